"""Requests that follow from limits, as the API server adds them."""

import copy

from hypothesis import given
from nemutator_controller.mutations.defaults import defaulted

from tests.controller.mutations.pods import Json, manifests


def pod(resources: Json, field: str = "containers") -> Json:
    return {"metadata": {"name": "web"}, "spec": {field: [{"name": "app", "resources": resources}]}}


def resources_of(manifest: Json, field: str = "containers") -> Json:
    return manifest["spec"][field][0]["resources"]


def test_a_limit_without_a_request_becomes_one() -> None:
    limits = {"cpu": "2", "memory": "1Gi", "example.com/gpu": "1"}
    asked = {"limits": limits, "requests": {"cpu": "1"}}
    made = resources_of(defaulted(pod(asked), "Pod"))
    assert made["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert made["limits"] == limits


def test_init_containers_and_templates_have_it_too() -> None:
    made = defaulted(pod({"limits": {"cpu": "2"}}, "initContainers"), "Pod")
    assert resources_of(made, "initContainers")["requests"] == {"cpu": "2"}
    deployment = {"spec": {"template": pod({"limits": {"cpu": "2"}})}}
    made = defaulted(deployment, "Deployment")
    assert resources_of(made["spec"]["template"])["requests"] == {"cpu": "2"}


def test_what_has_no_limits_stays_the_very_same() -> None:
    for resources in ({"requests": {"cpu": "1"}}, {}, None):
        manifest = pod(resources)
        assert defaulted(manifest, "Pod") is manifest


@given(manifests())
def test_the_manifest_itself_is_left_alone_and_a_second_time_changes_nothing(given: Json) -> None:
    kind, manifest = given
    before = copy.deepcopy(manifest)
    once = defaulted(manifest, kind)
    assert manifest == before
    assert defaulted(once, kind) == once
