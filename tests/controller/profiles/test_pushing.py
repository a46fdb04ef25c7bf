import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from nemutator_common import names
from nemutator_controller.profiles.pushing import MOST_WAITING, TRIES, ProfilePushing
from nemutator_controller.profiles.records import (
    ProfileRecord,
    PushRefusedError,
    PushUnavailableError,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.profiles import MemoryProfiles, content, profile


class Destination:
    """A `PushDestination` that fails as often as a test says."""

    name = "pyroscope"

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.failures: list[Exception] = []
        self.tries = 0

    async def push(self, profile: ProfileRecord, pprof: bytes) -> None:
        self.tries += 1
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append(profile.id)


class Bench:
    def __init__(self) -> None:
        self.clock, self.counts = ManualClock(), asyncio.Event()
        self.meter = MemoryMeter(self.counts.set)
        self.store, self.destination = MemoryProfiles(), Destination()
        process = fake_process(clock=self.clock, meter=self.meter, roll=0.0)
        self.pushing = ProfilePushing(self.destination, self.store, process)

    async def finish(self, number: int) -> None:
        done = replace(profile(number), state="done")
        await self.store.save(done, content())
        self.pushing.note(done)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.pushing.run())
            yield
            task.cancel()

    async def until(self, result: str, times: int = 1) -> None:
        async with asyncio.timeout(60):
            while self.counted(result) < times:
                self.counts.clear()
                await self.counts.wait()

    def counted(self, result: str) -> float:
        return self.meter.total(names.PROFILES_PUSHED, destination="pyroscope", result=result)


async def test_each_finished_profile_is_sent_in_their_order() -> None:
    bench = Bench()
    bench.pushing.note(replace(profile(9), state="running"))
    for number in (1, 2):
        await bench.finish(number)
    async with bench.running():
        await bench.until("pushed", 2)
    assert bench.destination.taken == [f"{1:016x}", f"{2:016x}"]


async def test_what_may_be_taken_later_is_tried_again_after_a_while() -> None:
    bench = Bench()
    bench.destination.failures = [PushUnavailableError("away"), TimeoutError()]
    await bench.finish(1)
    async with bench.running():
        await bench.clock.until_sleeping()
        assert bench.counted("pushed") == 0
        await bench.clock.advance(60)
        await bench.until("pushed")
    assert bench.destination.tries == 3


async def test_one_that_is_never_taken_is_counted_and_holds_up_nobody() -> None:
    bench = Bench()
    bench.destination.failures = [PushRefusedError("invalid labels")]
    for number in (1, 2):
        await bench.finish(number)
    async with bench.running():
        await bench.until("pushed")
    assert (bench.counted("refused"), bench.destination.taken) == (1, [f"{2:016x}"])


async def test_a_store_that_stays_away_costs_one_profile_a_few_minutes() -> None:
    bench = Bench()
    bench.destination.failures = [PushUnavailableError("away")] * TRIES
    for number in (1, 2):
        await bench.finish(number)
    async with bench.running():
        await bench.clock.until_sleeping()
        await bench.clock.advance(600)
        await bench.until("pushed")
    assert (bench.counted("unreachable"), bench.destination.taken) == (1, [f"{2:016x}"])


async def test_a_database_that_does_not_answer_is_asked_again_and_what_is_gone_is_counted() -> None:
    bench = Bench()
    await bench.finish(1)
    bench.store.broken = "deadline"
    async with bench.running():
        await bench.clock.until_sleeping()
        bench.store.broken = None
        await bench.clock.advance(60)
        await bench.until("pushed")
        bench.pushing.note(replace(profile(7), state="done"))
        await bench.until("gone")


async def test_what_does_not_fit_and_what_is_left_at_the_end_is_counted() -> None:
    bench = Bench()
    for number in range(MOST_WAITING + 2):
        await bench.finish(number)
    assert bench.counted("queue_full") == 2
    bench.destination.failures = [PushUnavailableError("away")]
    async with bench.running():
        await bench.clock.until_sleeping()
    assert bench.counted("stopped") == MOST_WAITING
