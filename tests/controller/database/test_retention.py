import asyncio
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask

from tests.fakes.brain_stores import Failing
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

NOW = 1_700_000_000.0
STEP = 20
CLEANING = RetentionTask(
    task="retention",
    every_s=60.0,
    step=STEP,
    kept=names.HISTORY_POINTS,
    dropped=names.HISTORY_DROPPED,
)


class Records(Failing):
    """A `Bounded`, of the moments that its records are from."""

    def __init__(self, ages: Iterable[int]) -> None:
        self.moments = sorted(NOW - age for age in ages)
        self.steps: list[int] = []

    async def drop_before(self, moment: float, *, most: int) -> int:
        self._work()
        return self._drop([each for each in self.moments if each < moment][:most])

    async def drop_oldest(self, *, most: int) -> int:
        self._work()
        return self._drop(self.moments[:most])

    async def count(self) -> int:
        self._work()
        return len(self.moments)

    def _drop(self, gone: list[float]) -> int:
        self.steps.append(len(gone))
        self.moments = self.moments[len(gone) :]
        return len(gone)


class Standing:
    def __init__(self, ages: Iterable[int], *, records: int = 10_000) -> None:
        self.store = Records(ages)
        self.clock, self.meter = ManualClock(NOW), MemoryMeter()
        keep = RetentionLimit(seconds=600, records=records)
        self.retention = Retention(
            self.store, keep, CLEANING, process=fake_process(meter=self.meter, clock=self.clock)
        )


@given(st.sets(st.integers(0, 1200)), st.integers(1, 50))
def test_the_newest_within_age_and_count_stay(ages: set[int], records: int) -> None:
    async def body() -> None:
        brain = Standing(ages, records=records)
        await brain.retention.prune()
        young = sorted(age for age in ages if age <= 600)[:records]
        assert brain.store.moments == sorted(NOW - age for age in young)
        assert brain.meter.value(names.HISTORY_POINTS) == len(young)
        assert brain.meter.total(names.HISTORY_DROPPED) == len(ages) - len(young)

    asyncio.run(body())


async def test_much_is_removed_in_small_steps_and_counted_by_reason() -> None:
    brain = Standing([*range(2 * STEP + 5), *range(601, 601 + STEP)], records=STEP)
    await brain.retention.prune()
    assert max(brain.store.steps) == STEP
    assert brain.meter.value(names.HISTORY_DROPPED, reason="age") == STEP
    assert brain.meter.value(names.HISTORY_DROPPED, reason="count") == STEP + 5


async def test_records_that_are_gone_before_we_come_to_them_are_not_waited_for() -> None:
    class Raced(Records):
        async def drop_oldest(self, *, most: int) -> int:
            return 0

    brain = Standing([1, 2, 3], records=1)
    raced = Retention(
        Raced([1, 2, 3]),
        RetentionLimit(seconds=600, records=1),
        CLEANING,
        process=fake_process(meter=brain.meter, clock=brain.clock),
    )
    async with asyncio.timeout(60):
        await raced.prune()


async def test_a_broken_database_is_asked_again_later() -> None:
    brain = Standing([700])
    brain.store.broken = "busy"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(brain.retention.run())
        await brain.clock.until_sleeping()
        brain.store.broken = None
        assert brain.store.moments
        await brain.clock.advance(CLEANING.every_s)
        await brain.clock.until_sleeping()
        assert not brain.store.moments
        task.cancel()
