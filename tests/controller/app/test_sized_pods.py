import msgspec
from nemutator_controller.app.sized_pods import sized_pod
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.updating.node_room import needs_of

from tests.fakes.pods import picture


def init(cpu: str, **more: str) -> dict[str, object]:
    return {"name": f"init-{cpu}", "resources": {"requests": {"cpu": cpu}}, **more}


def test_a_pod_needs_what_the_scheduler_counts() -> None:
    sidecar = init("300m", restartPolicy="Always")
    document = {
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u1"},
        "spec": {
            "containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [init("900m"), sidecar, init("1100m")],
            "overhead": {"cpu": "50m"},
            "nodeName": "n1",
        },
    }
    found = sized_pod(msgspec.convert(document, Pod), picture())
    assert found.beside == {"cpu": parse_quantity("350m")}
    assert found.starting == {"cpu": parse_quantity("1450m")}
    assert needs_of(found) == {"cpu": parse_quantity("1450m")}
