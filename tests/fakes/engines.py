"""An engine that runs for as long as a test looks at it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine

from tests.fakes.clocks import ManualClock


@contextlib.asynccontextmanager
async def in_background(
    engine: Coroutine[None, None, None], clock: ManualClock
) -> AsyncIterator[None]:
    """Until the block ends; it begins once the engine waits for *clock*."""
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(engine)
        await clock.until_sleeping(1)
        yield
        running.cancel()
