"""Of pods whose creation was seen it is measured when they are ready, once."""

import asyncio

from nemutator_controller.seasons.day_book import Scope
from nemutator_controller.seasons.records import PodStep
from nemutator_controller.seasons.start_times import StartTimes
from nemutator_controller.seasons.starting import MOST_STARTING, StartMeasuring

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.seasons import MemoryStartingPods, MemoryStartTimes

WEB: Scope = ("shop", "Deployment", "web")


class Starts:
    def __init__(self) -> None:
        self.clock, self.pods, self.store = ManualClock(), MemoryStartingPods(), MemoryStartTimes()
        self.measuring = StartMeasuring(
            self.pods, StartTimes(10), self.store, fake_process(clock=self.clock)
        )

    async def begin(self, uid: str, seconds: float) -> None:
        self.measuring.take(PodStep(uid=uid, scope=WEB, is_new=True))
        await self.clock.advance(seconds)
        self.measuring.take(PodStep(uid=uid, scope=WEB, is_ready=True))

    @property
    def told(self) -> float | None:
        return self.measuring.times.ready_within_s(WEB)


async def test_a_start_is_from_its_creation_until_it_is_ready() -> None:
    given = Starts()
    for number in range(3):
        await given.begin(f"u{number}", 40.0)
    assert given.told == 40.0


async def test_one_that_is_ready_again_has_not_started_again() -> None:
    given = Starts()
    for number in range(3):
        await given.begin(f"u{number}", 40.0)
    await given.clock.advance(900.0)
    given.measuring.take(PodStep(uid="u0", scope=WEB))
    given.measuring.take(PodStep(uid="u0", scope=WEB, is_ready=True))
    assert given.measuring.times.count(WEB) == 3


async def test_one_that_was_there_before_or_has_gone_is_not_measured() -> None:
    given = Starts()
    given.measuring.take(PodStep(uid="old", scope=WEB, is_ready=True))
    given.measuring.take(PodStep(uid="gone", scope=WEB, is_new=True))
    given.measuring.take(PodStep(uid="gone", scope=WEB, is_gone=True))
    given.measuring.take(PodStep(uid="gone", scope=WEB, is_ready=True))
    assert given.measuring.times.count(WEB) == 0


async def test_so_many_are_awaited_and_no_more() -> None:
    given = Starts()
    for number in range(MOST_STARTING + 1):
        given.measuring.take(PodStep(uid=str(number), scope=WEB, is_new=True))
    given.measuring.take(PodStep(uid="0", scope=WEB, is_ready=True))
    assert given.measuring.times.count(WEB) == 0
    given.measuring.take(PodStep(uid="1", scope=WEB, is_ready=True))
    assert given.measuring.times.count(WEB) == 1


async def test_what_was_measured_survives_a_restart_and_a_full_disk() -> None:
    given = Starts()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(given.measuring.run())
        for is_ready in (False, True):
            for number in range(3):
                step = PodStep(uid=str(number), scope=WEB, is_new=not is_ready, is_ready=is_ready)
                given.pods.waiting.put_nowait(step)
            await given.pods.waiting.join()
            await given.clock.advance(25.0)
        running.cancel()
    given.store.is_away = True
    await given.measuring.save()
    given.store.is_away = False
    await given.measuring.save()
    again = Starts()
    again.measuring.store = given.store
    await again.measuring.restore()
    assert again.told == 25.0
