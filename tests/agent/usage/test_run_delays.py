import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.run_delays import (
    LEAST_TURNS,
    SLOTS,
    UNTIMED,
    RunDelays,
    bounds,
    middle_s,
    waited_between,
)

NOTHING = RunDelays(0, (0,) * SLOTS)
UNIT_S = 1024e-9


def delays(waited_ns: int = 0, **turns: int) -> RunDelays:
    """By names like `slot3`."""
    of_slot = [0] * SLOTS
    for slot, count in turns.items():
        of_slot[int(slot[4:])] = count
    return RunDelays(waited_ns, tuple(of_slot))


def test_a_mean_and_the_ninety_ninth_of_a_hundred_turns() -> None:
    found = waited_between(NOTHING, delays(3_000_000_000, slot0=99, slot31=1), 60.0)
    assert found is not None
    assert found.share == 0.05
    assert found.p99 == pytest.approx(UNIT_S / 2, rel=0.01)
    later = waited_between(NOTHING, delays(3_000_000_000, slot0=98, slot31=2), 60.0)
    assert later is not None
    low, high = bounds(31)
    assert low * UNIT_S < (later.p99 or 0.0) < high * UNIT_S


def test_what_was_before_does_not_count() -> None:
    before = delays(5, slot40=1000)
    found = waited_between(before, delays(5, slot40=1000, slot1=LEAST_TURNS), 1.0)
    assert found is not None
    assert found.share == 0.0
    assert found.p99 == middle_s(1)


def test_of_few_turns_only_the_mean_is_told() -> None:
    found = waited_between(NOTHING, delays(10**9, slot20=LEAST_TURNS - 1), 10.0)
    assert found is not None
    assert (found.share, found.p99) == (0.1, None)


@pytest.mark.parametrize(
    ("before", "elapsed_s"), [(None, 1.0), (NOTHING, 0.0), (NOTHING, -1.0), (delays(9), 1.0)]
)
def test_without_a_reading_before_of_the_same_group_nothing_is_told(
    before: RunDelays | None, elapsed_s: float
) -> None:
    assert waited_between(before, delays(5, slot1=100), elapsed_s) is None


def test_fewer_turns_than_before_are_those_of_another_group() -> None:
    assert waited_between(delays(1, slot3=5), delays(2, slot3=4), 1.0) is None


@given(st.integers(0, 10**10))
def test_every_wait_has_a_slot_that_tells_it_to_a_quarter(ns: int) -> None:
    units = ns >> 10
    [slot] = [
        one
        for one in range(SLOTS)
        if bounds(one)[0] <= units and (units < bounds(one)[1] or one == SLOTS - 1)
    ]
    if 0 < slot < SLOTS - 1 and units >= 2:
        assert middle_s(slot) == pytest.approx(units * UNIT_S, rel=0.25)


def test_slots_follow_each_other() -> None:
    ends = [bounds(slot) for slot in range(SLOTS)]
    assert ends[0][0] == 0.0
    assert all(high == low for (_, high), (low, _) in itertools.pairwise(ends))
    assert all(math.isfinite(middle_s(slot)) for slot in range(SLOTS))


def test_who_does_not_ask_the_kernel_is_told_nothing() -> None:
    assert UNTIMED.delays("/group", ()) is None
    UNTIMED.forget(())
