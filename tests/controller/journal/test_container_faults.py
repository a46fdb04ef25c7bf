from typing import Any

import pytest
from nemutator_controller.journal.container_faults import container_faults

APP = {"name": "app"}


def faults(spec: Any) -> list[str]:
    return list(container_faults({"spec": spec}, "Pod"))


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"containers": {}}, "spec.containers: expected a list of containers"),
        ({"containers": [None]}, "spec.containers[0]: expected a container"),
        ({"containers": [APP, APP]}, "spec.containers[1].name: another container is called 'app'"),
        (
            {"containers": [APP], "initContainers": [{"name": "a"}, APP]},
            "spec.initContainers[1].name: another container",
        ),
        ({"containers": [APP | {"resources": 7}]}, "spec.containers[0].resources: expected an obj"),
        (
            {"containers": [APP | {"resources": {"limits": []}}]},
            "spec.containers[0].resources.limits: expected an object",
        ),
        ({"containers": [APP | {"env": {"A": "b"}}]}, "spec.containers[0].env: expected a list"),
        ({"containers": [APP | {"image": 7}]}, "spec.containers[0].image: expected text"),
        ({"nodeSelector": ["a"]}, "spec.nodeSelector: expected an object"),
        ({"volumes": "x"}, "spec.volumes: expected a list"),
    ],
)
def test_what_an_api_server_refuses_is_named(spec: Any, wanted: str) -> None:
    [fault] = faults(spec)
    assert fault.startswith(wanted)
    assert fault.endswith("as an API server does")


def test_what_says_nothing_is_no_fault() -> None:
    empty: Any = {"resources": None, "env": None, "image": None, "securityContext": {}}
    assert faults({"containers": [APP | empty, {}, {}], "volumes": None, "affinity": None}) == []
    assert faults({"containers": None}) == faults(None) == []


def test_of_a_template_the_whole_path_is_named() -> None:
    template = {"spec": {"containers": [None]}}
    document = {"spec": {"jobTemplate": {"spec": {"template": template}}}}
    [fault] = container_faults(document, "CronJob")
    assert fault.startswith("spec.jobTemplate.spec.template.spec.containers[0]: ")
