from dataclasses import replace

from nemutator_controller.evictions.pace import (
    OF_ALL,
    OF_NODE,
    OF_WORKLOAD,
    PERIOD_S,
    SETTLING_S,
    EvictionBudgets,
    EvictionPace,
)
from nemutator_controller.evictions.records import EvictablePod, OwningWorkload

WEB = OwningWorkload("shop", "Deployment", "web")


def pod(name: str, *, ready: bool = True, node: str = "n1") -> EvictablePod:
    return EvictablePod("shop", name, name, node, WEB, ready)


def pace(*, per_minute: int = 100, node: int = 100, workload: int = 1) -> EvictionPace:
    budgets = EvictionBudgets(
        per_minute=per_minute, node_per_minute=node, workload_at_once=workload
    )
    return EvictionPace(budgets)


def why_not(made: EvictionPace, one: EvictablePod, *together: EvictablePod, now: float) -> str:
    return made.why_not(one, made.standing(WEB, together, now=now), now=now)


def evicted(made: EvictionPace, one: EvictablePod, *together: EvictablePod, now: float) -> None:
    made.evicted(one, made.standing(WEB, together, now=now), now=now)


def test_the_next_pod_of_a_workload_waits_for_as_many_ready_ones_as_before() -> None:
    a, b, c, new = pod("a"), pod("b"), pod("c"), pod("new", ready=False)
    made = pace()
    assert why_not(made, a, a, b, c, now=0) == ""
    evicted(made, a, a, b, c, now=0)
    # The watch may still show it, as ready as before.
    assert why_not(made, b, a, b, c, now=1) == OF_WORKLOAD
    assert why_not(made, b, b, c, now=2) == OF_WORKLOAD
    assert why_not(made, b, b, c, new, now=3) == OF_WORKLOAD
    assert why_not(made, b, b, c, replace(new, is_ready=True), now=4) == ""


def test_a_workload_that_was_scaled_down_meanwhile_is_not_waited_for_for_ever() -> None:
    a, b = pod("a"), pod("b")
    made = pace()
    evicted(made, a, a, b, now=0)
    assert why_not(made, b, b, now=SETTLING_S - 1) == OF_WORKLOAD
    assert why_not(made, b, b, now=SETTLING_S) == ""


def test_what_is_not_ready_serves_nobody_and_may_go() -> None:
    a, b = pod("a"), pod("b", ready=False)
    made = pace()
    assert why_not(made, a, a, b, now=0) == OF_WORKLOAD
    assert why_not(made, b, a, b, now=0) == ""


def test_a_larger_budget_lets_more_go_at_once() -> None:
    several = [pod(name) for name in "abcd"]
    made = pace(workload=2)
    evicted(made, several[0], *several, now=0)
    assert why_not(made, several[1], *several, now=0) == ""
    evicted(made, several[1], *several, now=0)
    assert why_not(made, several[2], *several, now=0) == OF_WORKLOAD


def test_a_node_and_all_nodes_lose_so_many_in_any_minute() -> None:
    made = pace(per_minute=3, node=1, workload=100)
    a, b, c, d = (pod(name, node=node) for name, node in zip("abcd", "1123", strict=True))
    evicted(made, a, a, b, c, now=0)
    assert why_not(made, b, b, c, now=1) == OF_NODE
    evicted(made, c, b, c, now=1)
    evicted(made, d, d, now=2)
    assert why_not(made, pod("e", node="9"), now=3) == OF_ALL
    assert why_not(made, b, b, c, now=PERIOD_S) == ""


def test_what_an_earlier_life_evicted_still_counts() -> None:
    a, b = pod("a"), pod("b")
    made = pace(node=1)
    made.resumed([(a, 20.0)], now=100)
    assert why_not(made, pod("x", node="n1"), now=100) == OF_NODE
    assert why_not(made, pod("b", node="n2"), b, now=100) == OF_WORKLOAD
    assert why_not(made, b, b, now=100 + PERIOD_S) == ""


def test_nothing_is_remembered_of_what_is_over() -> None:
    a, b = pod("a"), pod("b")
    made = pace()
    evicted(made, a, a, b, now=0)
    made.forget([b], now=SETTLING_S)
    assert made == pace()
