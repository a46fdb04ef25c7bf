import dataclasses
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire_activity import Flow
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.inventory.flows import (
    NamedFlow,
    addresses_of,
    flow_graph,
    named_flows,
)
from nemutator_controller.kube.node_objects import Service, WatchedNode
from nemutator_controller.kube.objects import Pod, PodStatus

from tests.fakes.inventory import counted_pod, keyed
from tests.fakes.pods import picture


def at(pod: Pod, address: str) -> Pod:
    return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, pod_ip=address))


PODS = picture(
    at(counted_pod("web-1"), "10.1.0.1"),
    at(counted_pod("db-1", node="n2", deployment="db"), "10.1.0.2"),
    at(counted_pod("old-1", phase="Succeeded"), "10.1.0.2"),
    at(counted_pod("net-1", deployment=None, host_network=True), "10.0.0.1"),
)
OBJECTS = ObjectsSnapshot(
    nodes=keyed(
        msgspec.convert(
            {
                "metadata": {"name": "n1"},
                "status": {
                    "addresses": [
                        {"type": "InternalIP", "address": "10.0.0.1"},
                        {"type": "Hostname", "address": "n1"},
                    ]
                },
            },
            WatchedNode,
        )
    ),
    services=keyed(
        msgspec.convert(
            {
                "metadata": {"name": "db", "namespace": "shop"},
                "spec": {"clusterIPs": ["10.96.0.7", "None"]},
            },
            Service,
        )
    ),
)


def flow(pod: str, address: str, direction: Any = "out", **more: Any) -> Flow:
    known: dict[str, Any] = {"received": 1000, "sent": 200, "connections": 1, "port": 5432}
    return Flow(
        pod_uid=f"u-{pod}",
        address=address,
        protocol="tcp",
        direction=direction,
        from_at=100.0,
        to_at=110.0,
        **(known | more),
    )


def named(*reported: tuple[str, Flow]) -> list[NamedFlow]:
    return named_flows(((node, [one]) for node, one in reported), PODS, addresses_of(PODS, OBJECTS))


def test_both_ends_have_names() -> None:
    addresses = ("10.1.0.2", "10.96.0.7", "10.0.0.1", "192.0.2.1")
    found = named(*(("n1", flow("web-1", address)) for address in addresses))
    assert [(each.peer.kind, each.peer.name) for each in found] == [
        ("Pod", "db-1"),
        ("Service", "db"),
        ("Node", "n1"),
        ("Address", "192.0.2.1"),
    ]
    first = found[0]
    assert (first.pod.owner_kind, first.pod.owner) == ("Deployment", "web")
    assert (first.received, first.sent) == (100.0, 20.0)


def test_a_pod_with_addresses_of_two_families_has_one_name() -> None:
    answered = b'{"podIP":"10.1.0.2","podIPs":[{"ip":"10.1.0.2"},{"ip":"fd00::2"}]}'
    both = msgspec.json.decode(answered, type=PodStatus)
    pods = picture(msgspec.structs.replace(counted_pod("db-1"), status=both))
    addresses = addresses_of(pods, ObjectsSnapshot())
    ends = [addresses.end(one) for one in ("10.1.0.2", "fd00::2")]
    assert [(each.kind, each.name, each.address) for each in ends] == [
        ("Pod", "db-1", "10.1.0.2"),
        ("Pod", "db-1", "fd00::2"),
    ]
    # Of one family nothing is kept beside the first one.
    assert len(both.further_ips) == 1
    alone = msgspec.json.decode(b'{"podIP":"a","podIPs":[{"ip":"a"}]}', type=PodStatus)
    assert alone.further_ips == ()


def test_a_pod_that_has_an_address_only_now_was_not_the_peer_before() -> None:
    later = at(counted_pod("db-2"), "10.1.0.2")
    named_now = msgspec.structs.replace(later.metadata, creation_timestamp="1970-01-01T00:01:51Z")
    pods = picture(counted_pod("web-1"), msgspec.structs.replace(later, metadata=named_now))
    addresses = addresses_of(pods, OBJECTS)
    told = [("n1", [flow("web-1", "10.1.0.2")])]
    [before] = named_flows(told, pods, addresses)
    assert (before.peer.kind, before.peer.name) == ("Address", "10.1.0.2")
    again = [("n1", [dataclasses.replace(told[0][1][0], to_at=111.0)])]
    assert [one.peer.name for one in named_flows(again, pods, addresses)] == ["db-2"]


def test_a_node_may_speak_of_its_own_pods_only() -> None:
    assert named(("n2", flow("web-1", "10.1.0.2")), ("n1", flow("none", "10.1.0.2"))) == []


def test_what_both_sides_tell_of_is_one_edge_and_counted_once() -> None:
    found = named(
        ("n1", flow("web-1", "10.1.0.2")),
        ("n2", flow("db-1", "10.1.0.1", "in", received=190, sent=900)),
        ("n1", flow("web-1", "192.0.2.1")),
    )
    nodes, edges = flow_graph(found)
    assert {each.id for each in nodes} == {
        "Deployment/shop/web",
        "Deployment/shop/db",
        "Address/192.0.2.1",
    }
    by_target = {each.target: each for each in edges}
    edge = by_target["Deployment/shop/db"]
    assert (edge.source, edge.port) == ("Deployment/shop/web", 5432)
    assert (edge.sent, edge.received) == (20.0, 100.0)


@given(st.lists(st.sampled_from(["10.1.0.2", "10.96.0.7", "192.0.2.1"]), max_size=9))
def test_the_edges_have_all_bytes(addresses: list[str]) -> None:
    found = named(*(("n1", flow("web-1", address)) for address in addresses))
    nodes, edges = flow_graph(found)
    assert sum(each.sent for each in edges) == sum(each.sent for each in found)
    ids = {each.id for each in nodes}
    assert all(each.source in ids and each.target in ids for each in edges)
