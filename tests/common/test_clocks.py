"""The clock that tests move keeps the promises of the port."""

import asyncio

from nemutator_common.clocks import Clock

from tests.fakes.clocks import ManualClock


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock, woken = ManualClock(), []

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((seconds, clock.monotonic()))

    async with asyncio.TaskGroup() as tasks:
        for seconds in (3.0, 1.0, 2.0):
            tasks.create_task(sleeper(seconds))
        await clock.until_sleeping(3)
        await clock.advance(2.5)
        assert woken == [(1.0, 1.0), (2.0, 2.0)]
        await clock.advance(1.0)
    assert woken[-1] == (3.0, 3.0)


def test_wall_time_may_jump_and_intervals_do_not() -> None:
    clock = ManualClock(now=100.0)
    as_port: Clock = clock
    clock.jump(-50.0)
    assert (as_port.now(), as_port.monotonic()) == (50.0, 0.0)
