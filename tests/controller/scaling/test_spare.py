"""Spare CPU is shared once, the reserve is kept, and higher priorities come first."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.scaling.records import SpareCpu
from nemutator_controller.scaling.spare import SpareWish, opportunistic_replicas, spare_millis


def wish(name: str, **changes: Any) -> SpareWish:
    fields = {"base": 2, "most": 10, "request_millis": 1_000, "requested_millis": 2_000}
    return SpareWish(key=("shop", name), **{**fields, **changes})


def spare(wishes: list[SpareWish], **changes: Any) -> int:
    fields = {"allocatable": 20_000, "requested": 8_000}
    return spare_millis(SpareCpu(**{**fields, **changes}), wishes, reserve_percent=15)


def test_what_a_workload_itself_requests_takes_nothing_from_it() -> None:
    assert spare([wish("web")]) == 9_000
    # It has gained four, and has not less room for them.
    assert spare([wish("web", requested_millis=6_000)], requested=12_000) == 9_000


def test_what_all_are_expected_to_use_is_not_spare() -> None:
    assert spare([wish("web")], foreseen=4_000) == 9_000
    assert spare([wish("web")], foreseen=15_000) == 2_000
    assert spare([wish("web")], foreseen=90_000) == 0


def test_an_absurd_node_stops_nobody() -> None:
    assert spare([wish("web")], allocatable=10**400) > 10**399


def test_a_full_cluster_has_nothing_spare() -> None:
    assert spare([wish("web")], requested=20_000) == 0
    assert opportunistic_replicas(0, [wish("web")]) == {("shop", "web"): 2}


def test_equal_ones_share_and_what_one_cannot_use_is_the_others() -> None:
    found = opportunistic_replicas(9_000, [wish("a"), wish("b", most=4), wish("c")])
    assert (
        found == {("shop", "a"): 5, ("shop", "b"): 4, ("shop", "c"): 5}
        or sum(found.values()) == 6 + 9
    )
    assert found["shop", "b"] == 4


def test_a_higher_priority_comes_first() -> None:
    found = opportunistic_replicas(9_000, [wish("a"), wish("b", priority=5)])
    assert found == {("shop", "a"): 3, ("shop", "b"): 10}


def test_a_share_is_not_exceeded() -> None:
    found = opportunistic_replicas(8_000, [wish("a", share_percent=50)])
    assert found == {("shop", "a"): 6}


def test_who_requests_nothing_gets_its_base() -> None:
    assert opportunistic_replicas(9_000, [wish("a", request_millis=0)]) == {("shop", "a"): 2}


AMOUNTS = st.integers(0, 10**7)
WISHES = st.lists(
    st.builds(
        SpareWish,
        key=st.tuples(st.just("shop"), st.text("abc", min_size=1, max_size=4)),
        base=st.integers(0, 50),
        most=st.integers(50, 5_000),
        request_millis=st.integers(0, 4_000),
        requested_millis=AMOUNTS,
        share_percent=st.integers(1, 100),
        priority=st.integers(-3, 3),
    ),
    max_size=6,
    unique_by=lambda one: one.key,
)


@settings(max_examples=60)
@given(AMOUNTS, AMOUNTS, st.none() | AMOUNTS, WISHES)
def test_together_they_request_no_more_than_is_spare(
    allocatable: int, requested: int, foreseen: int | None, wishes: list[SpareWish]
) -> None:
    cpu = SpareCpu(allocatable=allocatable, requested=requested, foreseen=foreseen)
    millis = spare_millis(cpu, wishes, reserve_percent=15)
    found = opportunistic_replicas(millis, wishes)
    assert found.keys() == {one.key for one in wishes}
    more = {one.key: found[one.key] - one.base for one in wishes}
    assert sum(more[one.key] * one.request_millis for one in wishes) <= millis <= allocatable
    for one in wishes:
        assert one.base <= found[one.key] <= one.most
        assert more[one.key] * one.request_millis <= millis * one.share_percent / 100
