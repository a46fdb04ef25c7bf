"""A rate with a burst, few at once, and no endless queue."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.budget import OverBudgetError, TokenBucket, WriteBudget

from tests.fakes.clocks import ManualClock
from tests.fakes.scripted_kube import EagerClock


@given(st.floats(0.1, 100), st.integers(1, 50), st.lists(st.floats(0, 5), max_size=60))
def test_no_window_has_more_than_rate_and_burst(
    per_s: float, burst: int, gaps: list[float]
) -> None:
    bucket, now, used = TokenBucket(per_s=per_s, burst=burst), 0.0, []
    for gap in gaps:
        now += gap
        used.append(now + bucket.take(now))
    for first, start in enumerate(used):
        for last in range(first, len(used)):
            allowed = burst + per_s * (used[last] - start)
            assert last - first + 1 <= allowed + 1e-6


async def test_a_burst_goes_at_once_and_the_rest_in_turn() -> None:
    clock = EagerClock()
    budget = WriteBudget(clock, per_s=10, burst=5)
    for _ in range(7):
        async with budget.spend():
            pass
    assert clock.slept == pytest.approx([0.1, 0.1])


async def test_too_many_that_wait_are_refused() -> None:
    clock = ManualClock()
    budget = WriteBudget(clock, per_s=1, burst=1, concurrent=1, waiting=1)

    async def write() -> None:
        async with budget.spend():
            await clock.sleep(5)

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        group.create_task(write())
        await clock.until_sleeping(1)
        with pytest.raises(OverBudgetError):
            async with budget.spend():
                pass
        await clock.advance(30)
    async with budget.spend():
        pass
