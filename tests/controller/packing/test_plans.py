"""A node is emptied where all of its pods have room elsewhere, and not at all where one has none."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.packing.model import NodeContents, OversellCeiling, PackNode, PackPod
from nemutator_controller.packing.plans import (
    BUSIEST_SHARE,
    FULLEST_SHARE,
    UNDER,
    candidates,
    kept_node,
    plan_of,
)

GIB = 1 << 30


def node(name: str, cpu: int = 1_000, **changed: Any) -> PackNode:
    given: dict[str, Any] = {
        "name": name,
        "cpu_millis": 4_000,
        "memory_bytes": 16 * GIB,
        "requested_cpu": cpu,
        "requested_memory": GIB,
        "pods": 3,
        **changed,
    }
    return PackNode(**given)


def pod(name: str, cpu: int = 500, **changed: Any) -> PackPod:
    given: dict[str, Any] = {
        "namespace": "shop",
        "name": name,
        "uid": f"uid-{name}",
        "cpu_millis": cpu,
        "memory_bytes": GIB,
        **changed,
    }
    return PackPod(**given)


def contents(*pods: PackPod, kept: str = "") -> NodeContents:
    return NodeContents(pods=pods, kept=kept)


def test_the_emptiest_are_worth_asking_about_first() -> None:
    nodes = [node("half", 2_000), node("low", 400), node("full", 3_000), node("kept", 0, kept="x")]
    assert [one.name for one in candidates(nodes)] == ["low", "half"]
    assert [one.name for one in candidates(nodes, ["low"])] == ["half"]
    assert kept_node(nodes[2]).why_not == "75 % of it is requested, and it is emptied up to 50 %"
    assert kept_node(nodes[3]).why_not == "x"


def test_pods_go_to_the_fullest_that_has_room_the_largest_first() -> None:
    others = [node("free", 500), node("full", 2_800), node("fuller", 3_400)]
    made = plan_of(node("n"), contents(pod("small", 100), pod("large", 700)), others)
    assert [(move.pod.name, move.to) for move in made.moves] == [
        ("large", "full"),
        ("small", "fuller"),
    ]
    assert made.why_not == ""


def test_no_node_is_packed_beyond_the_ceiling_of_what_its_pods_may_use() -> None:
    others = [
        node("full", 3_000, limited_cpu=7_000, limited_memory=8 * GIB),
        node("free", 1_000, limited_cpu=1_000, limited_memory=20 * GIB),
    ]
    moving = contents(pod("a", 200, limit_cpu=2_000, limit_memory=4 * GIB))

    def to(**ceiling: float) -> str:
        made = plan_of(node("n"), moving, others, ceiling=OversellCeiling(**ceiling))
        return made.moves[0].to if made.moves else made.why_not

    assert to() == "full"
    assert to(cpu=2.25) == "full"
    assert to(cpu=2.0) == "free"
    assert to(memory=1.0) == "full"
    assert to(cpu=2.0, memory=1.0) == f"shop/a: no other node has room for it{UNDER}"


def test_one_pod_without_a_place_keeps_all_of_them() -> None:
    made = plan_of(node("n"), contents(pod("a"), pod("big", 3_900)), [node("m", 500)])
    assert (made.moves, made.why_not) == ((), "shop/big: no other node has room for it")


def test_one_pod_that_stays_keeps_its_node() -> None:
    made = plan_of(node("n"), contents(pod("a", stays="it is mine")), [node("m")])
    assert made.why_not == "shop/a: it is mine"
    assert plan_of(node("n"), contents(kept="no"), [node("m")]).why_not == "no"


def test_what_goes_along_needs_no_place_and_room_that_is_kept_free_gives_way() -> None:
    pods = (pod("agent", goes_along=True, stays="x"), pod("pause", 9_000, gives_way=True))
    made = plan_of(node("n"), contents(*pods), [])
    assert [(move.pod.name, move.to) for move in made.moves] == [("pause", "")]


def test_an_empty_node_has_nothing_to_move() -> None:
    made = plan_of(node("n"), contents(pod("agent", goes_along=True)), [])
    assert (made.moves, made.why_not) == ((), "")


def test_nodes_that_are_no_place_take_nothing() -> None:
    others = [
        node("cordoned", takes_none="it is cordoned"),
        node("busy", used_share=BUSIEST_SHARE + 0.01),
        node("emptied", is_marked=True),
        node("chosen"),
        node("bare", 0, requested_memory=0),
        node("crowded", most_pods=3),
        node("n", 500),
    ]
    made = plan_of(node("n"), contents(pod("a")), others, chosen=["chosen"])
    assert made.why_not == "shop/a: no other node has room for it"


def test_a_node_selector_is_obeyed() -> None:
    wanted = pod("a", node_selector={"zone": "b"})
    others = [node("m", 2_000, labels={"zone": "a"}), node("o", 500, labels={"zone": "b"})]
    made = plan_of(node("n"), contents(wanted), others)
    assert [move.to for move in made.moves] == ["o"]


@given(
    st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 4 * GIB)), max_size=8),
    st.lists(st.integers(1, 4_000), max_size=5),
)
def test_no_plan_overfills_a_node(wanted: list[tuple[int, int]], given_nodes: list[int]) -> None:
    pods = [
        pod(f"p{number}", cpu, memory_bytes=memory) for number, (cpu, memory) in enumerate(wanted)
    ]
    others = [node(f"n{number}", cpu) for number, cpu in enumerate(given_nodes)]
    made = plan_of(node("n"), contents(*pods), others)
    if made.why_not:
        assert made.moves == ()
        return
    assert {move.pod.name for move in made.moves} == {one.name for one in pods}
    for each in others:
        moved = [move.pod for move in made.moves if move.to == each.name]
        if moved:
            cpu = each.requested_cpu + sum(one.cpu_millis for one in moved)
            memory = each.requested_memory + sum(one.memory_bytes for one in moved)
            assert cpu <= each.cpu_millis * FULLEST_SHARE
            assert memory <= each.memory_bytes * FULLEST_SHARE
