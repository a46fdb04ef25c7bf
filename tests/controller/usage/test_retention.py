import asyncio

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.usage.history import Point
from nemutator_controller.usage.retention import EVERY_S, STEP, Keep, Retention

from tests.fakes.batches import NOW
from tests.fakes.brain_stores import MemoryHistory
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter


class Standing:
    def __init__(self, ages: list[int], *, points: int = 10_000) -> None:
        moments = {NOW - age: Point(NOW - age, 1.0, 1, None) for age in ages}
        self.store = MemoryHistory({"n1": moments} if moments else {})
        self.clock = ManualClock(NOW)
        self.meter = MemoryMeter()
        keep = Keep(seconds=600, points=points)
        self.retention = Retention(self.store, keep, meter=self.meter, clock=self.clock)

    async def ages(self) -> set[float]:
        series = await self.store.series("n1", since=0)
        return {NOW - point.at for point in series.points} if series else set()


@given(st.sets(st.integers(0, 1200)), st.integers(1, 50))
def test_the_newest_within_age_and_count_stay(ages: set[int], points: int) -> None:
    async def body() -> None:
        brain = Standing(list(ages), points=points)
        await brain.retention.prune()
        young = sorted(age for age in ages if age <= 600)
        assert await brain.ages() == set(young[:points])
        assert brain.meter.value(names.HISTORY_POINTS) == len(young[:points])
        dropped = brain.meter.total(names.HISTORY_DROPPED)
        assert dropped == len(ages) - len(young[:points])

    asyncio.run(body())


async def test_much_is_removed_in_small_steps() -> None:
    brain = Standing(list(range(601, 601 + 2 * STEP + 5)))
    await brain.retention.prune()
    assert brain.meter.value(names.HISTORY_DROPPED, reason="age") == 2 * STEP + 5


async def test_a_broken_database_does_not_end_it() -> None:
    brain = Standing([700])
    brain.store.broken = "busy"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(brain.retention.run())
        await brain.clock.until_sleeping()
        brain.store.broken = None
        await brain.clock.advance(EVERY_S)
        await brain.clock.until_sleeping()
        assert not await brain.ages()
        task.cancel()
