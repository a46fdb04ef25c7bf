import json

from nemutator_controller.kube.decoder import Decoder
from nemutator_controller.kube.node_objects import Service, Taint, WatchedNode


def test_what_is_shown_of_a_node_is_read_and_shared() -> None:
    manifest = {
        "metadata": {"name": "n1", "labels": {"zone": "a"}},
        "spec": {
            "unschedulable": True,
            "podCIDR": "10.0.0.0/24",
            "taints": [{"key": "gpu", "effect": "NoSchedule"}],
        },
        "status": {
            "capacity": {"cpu": "8", "memory": "32Gi"},
            "allocatable": {"cpu": "7900m", "memory": "30Gi"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "…"}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "images": [{"names": ["x"] * 100, "sizeBytes": 1}] * 50,
        },
    }
    decoder = Decoder(WatchedNode)
    one, two = (decoder.object(json.dumps(manifest).encode()) for _ in range(2))
    assert one.spec.taints == (Taint("gpu", "", "NoSchedule"),)
    assert one.spec.unschedulable
    assert one.status.allocatable["cpu"] == "7900m"
    assert one.status.allocatable is two.status.allocatable
    assert one.status.conditions is two.status.conditions
    assert [each.address for each in one.status.addresses] == ["10.0.0.1"]


def test_a_service_without_a_selector_selects_nothing() -> None:
    decoder = Decoder(Service)

    def service(**spec: object) -> Service:
        manifest = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
        return decoder.object(json.dumps(manifest).encode())

    web = service(selector={"app": "web"}, clusterIPs=["10.96.0.7"], ports=[{"port": 80}])
    assert web.selects({"app": "web", "tier": "front"})
    assert not web.selects({"app": "db"})
    assert web.spec.cluster_ips == ("10.96.0.7",)
    assert [each.port for each in web.spec.ports] == [80]
    for empty in (service(), service(selector={}), service(selector=None)):
        assert not empty.selects({"app": "web"})
