import asyncio

import pytest
from nemutator_agent.credentials.vault.single_flight import SingleFlight

from tests.fakes.clocks import ManualClock

PATIENCE_S = 60.0


class Work:
    def __init__(self, result: int | Exception = 1) -> None:
        self.result = result
        self.begun = 0
        self.cancelled = 0
        self.open = asyncio.Event()

    async def __call__(self) -> int:
        self.begun += 1
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_those_who_join_share_one_result_and_the_next_starts_anew() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock())
    work = Work()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        joined = [tasks.create_task(flights.join("a", work)) for _ in range(3)]
        other = tasks.create_task(flights.join("b", work))
        await turns()
        assert work.begun == 2
        work.open.set()
        assert [await one for one in (*joined, other)] == [1, 1, 1, 1]
        assert await flights.join("a", work) == 1
        assert work.begun == 3
        running.cancel()


async def test_a_failure_reaches_all_who_wait_and_nobody_else() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock())
    work = Work(ValueError("no"))
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()

        async def joined() -> None:
            with pytest.raises(ValueError, match="no"):
                await flights.join("a", work)

        waiting = [tasks.create_task(joined()) for _ in range(2)]
        await turns()
        work.open.set()
        await asyncio.wait(waiting)
        work.result = 2
        assert await flights.join("a", work) == 2
        running.cancel()


async def test_work_goes_on_when_everybody_has_left() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock())
    work = Work()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        left = tasks.create_task(flights.join("a", work))
        await turns()
        left.cancel()
        await turns()
        again = tasks.create_task(flights.join("a", work))
        await turns()
        work.open.set()
        assert await again == 1
        assert (work.begun, work.cancelled) == (1, 0)
        running.cancel()


async def test_at_the_end_what_is_under_way_is_cancelled() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock())
    work = Work()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        waiting = tasks.create_task(flights.join("a", work))
        await turns()
        running.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
    assert work.cancelled == 1
    with pytest.raises(RuntimeError, match="does not run"):
        await flights.join("a", work)


async def test_a_caller_waits_only_so_long_and_the_work_goes_on() -> None:
    clock = ManualClock()
    flights: SingleFlight[int] = SingleFlight("test", clock)
    work = Work()

    async def in_vain() -> None:
        with pytest.raises(TimeoutError):
            await flights.join("a", work, within_s=5.0)

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        waiting = tasks.create_task(in_vain())
        await clock.until_sleeping()
        await clock.advance(5.0)
        await waiting
        assert (flights.age_s("a"), flights.age_s("b")) == (5.0, 0.0)
        again = tasks.create_task(flights.join("a", work, within_s=5.0))
        await clock.until_sleeping()
        work.open.set()
        assert await again == 1
        assert (work.begun, work.cancelled) == (1, 0)
        running.cancel()


async def test_a_failure_in_time_is_raised_as_it_is() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock())
    work = Work(ValueError("no"))
    work.open.set()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        with pytest.raises(ValueError, match="no"):
            await flights.join("a", work, within_s=5.0)
        running.cancel()


async def test_only_so_many_are_under_way_and_at_the_end_those_go_on() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock(), at_once=2, drain_s=PATIENCE_S)
    work = Work()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        joined = [tasks.create_task(flights.join(key, work)) for key in range(5)]
        await turns()
        assert work.begun == 2
        running.cancel()
        await turns()
        work.open.set()
        await asyncio.wait((running, *joined))
        assert [one.cancelled() for one in joined] == [False, False, True, True, True]
        assert (work.begun, work.cancelled) == (2, 0)


async def test_at_the_end_what_takes_too_long_is_cancelled() -> None:
    flights: SingleFlight[int] = SingleFlight("test", ManualClock(), drain_s=0.01)
    work = Work()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(flights.run())
        await turns()
        waiting = tasks.create_task(flights.join("a", work))
        await turns()
        running.cancel()
        await asyncio.wait((running, waiting))
    assert work.cancelled == 1
