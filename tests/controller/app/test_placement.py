"""What placement makes of the flows that agents tell of."""

from nemutator_controller.app.placement import places_of, talking
from nemutator_controller.inventory.flows import FlowEnd, NamedFlow
from nemutator_controller.placement.nodes_snapshot import Workload

from tests.fakes.pods import picture, pod

WEB: Workload = ("shop", "Deployment", "web")
CACHE: Workload = ("data", "StatefulSet", "cache")
PLACES = {"shop/web-1": "n1", "shop/web-2": "n2", "data/cache-0": "n2", "data/cache-1": "n3"}
COUNTS = {WEB: 2, CACHE: 2}


def end(workload: Workload, pod: str) -> FlowEnd:
    namespace, kind, owner = workload
    return FlowEnd(kind="Pod", namespace=namespace, name=pod, owner_kind=kind, owner=owner)


def flow(
    pod: FlowEnd, peer: FlowEnd, received: float, sent: float = 0.0, *, direction: str = "out"
) -> NamedFlow:
    return NamedFlow(
        node=PLACES[f"{pod.namespace}/{pod.name}"],
        pod=pod,
        peer=peer,
        direction=direction,
        protocol="tcp",
        port=6379,
        received=received,
        sent=sent,
        connections=1,
        from_at=0.0,
        to_at=60.0,
    )


def test_both_ends_hear_of_a_flow_by_nodes_and_for_each_pod_of_the_other() -> None:
    flows = [
        flow(end(WEB, "web-1"), end(CACHE, "cache-0"), 3e5, 1e5),
        flow(end(WEB, "web-2"), end(CACHE, "cache-1"), 2e5),
    ]
    by_node, by_peer = talking(flows, PLACES, COUNTS)
    assert by_node == {WEB: {"n2": 4e5, "n3": 2e5}, CACHE: {"n1": 4e5, "n2": 2e5}}
    assert by_peer == {WEB: {CACHE: 3e5}, CACHE: {WEB: 3e5}}


def test_only_the_pods_that_talk_are_looked_up_and_those_that_are_gone_have_no_place() -> None:
    flows = [
        flow(end(WEB, "web-1"), FlowEnd(kind="Address", name="10.0.0.1"), 1.0),
        flow(end(WEB, "web-2"), end(CACHE, "cache-0"), 1.0),
    ]
    seen = picture(*(pod(name, uid=name, node=f"on-{name}") for name in ("web-1", "web-2", "db")))
    assert places_of(flows, seen) == {"shop/web-1": "on-web-1", "shop/web-2": "on-web-2"}
    assert places_of([], seen) == {}


def test_its_own_pods_and_those_that_are_no_pods_are_nobody_to_be_near() -> None:
    flows = [
        flow(end(WEB, "web-1"), end(WEB, "web-2"), 1e6),
        flow(end(WEB, "web-1"), FlowEnd(kind="Address", name="10.0.0.1"), 1e6),
        flow(end(WEB, "web-1"), FlowEnd(kind="Service", namespace="data", name="cache"), 1e6),
        flow(end(WEB, "web-1"), end(CACHE, "cache-gone"), 1e6),
    ]
    by_node, by_peer = talking(flows, PLACES, COUNTS)
    # Of a pod that has no node any more the other end is known.
    assert by_node == {CACHE: {"n1": 1e6}}
    assert by_peer == {CACHE: {WEB: 5e5}}


def test_what_both_sides_tell_of_counts_once() -> None:
    web, cache = end(WEB, "web-1"), end(CACHE, "cache-0")
    flows = [
        flow(web, cache, 3e5, 1e5),
        # The agent of the other side looked later, when there was less.
        flow(cache, web, 1e5, 2e5, direction="in"),
        # Whoever goes through a Service is known to the side that listens alone.
        flow(cache, end(WEB, "web-2"), 0.0, 5e4, direction="in"),
    ]
    by_node, by_peer = talking(flows, PLACES, COUNTS)
    assert by_node == {WEB: {"n2": 4.5e5}, CACHE: {"n1": 4e5, "n2": 5e4}}
    assert by_peer == {WEB: {CACHE: 2.25e5}, CACHE: {WEB: 2.25e5}}
