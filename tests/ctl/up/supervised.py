"""A child that is supervised, by a clock of ours."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.up.child import Child
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import BACKOFF

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import SIGKILL, FakeProcesses

COMMAND = Command(("brain",))


def supervised(
    processes: FakeProcesses,
    clock: ManualClock,
    *,
    name: str = "brain",
    command: Command = COMMAND,
    drain_s: float = 1.0,
    after: Child | None = None,
) -> Child:
    return Child(
        name=name,
        command=command,
        processes=processes,
        health=processes,
        clock=clock,
        roll=lambda: 0.0,
        drain_s=drain_s,
        after=after,
    )


@contextlib.asynccontextmanager
async def running(child: Child) -> AsyncIterator[asyncio.Task[None]]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(child.run())
        await settled()
        yield task
        task.cancel()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def killed(processes: FakeProcesses, clock: ManualClock) -> None:
    processes.last.end(SIGKILL)
    await clock.advance(0.0)
    await clock.advance(BACKOFF.longest_s)


async def ended(child: Child) -> OperatorError:
    with pytest.raises(OperatorError) as caught:
        await child.run()
    return caught.value
