"""Saves what is in memory at intervals, so that a restart of the brain does not begin with nothing."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from nemutator_common.clocks import Clock

LAST_S = 0.5
"""For the last save, while the brain stops: it saves nothing that was acknowledged."""


async def save_repeatedly(
    save: Callable[[], Awaitable[None]], *, every_s: float, clock: Clock
) -> None:
    """Call *save* every *every_s* seconds, and once more when this is cancelled."""
    try:
        while True:
            await clock.sleep(every_s)
            await save()
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_S):
                await save()
