"""Saves what is in memory at intervals, so that a restart of the brain does not begin with nothing."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from nemutator_common.clocks import Clock

LAST_S = 0.5
"""For the last save, while the brain stops: it saves nothing that was acknowledged."""

RESTS = 20
"""Times as long as a save took, until the next one: histograms of 20 000 containers take five seconds of a processor, which reports
would miss in each minute."""

LONGEST_REST_S = 600.0
"""What is not saved is lost when the brain is killed, however slow the disk is."""


async def save_repeatedly(
    save: Callable[[], Awaitable[None]],
    *,
    every_s: float,
    clock: Clock,
    last: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Call *save* every *every_s* seconds, less often where it takes long, and once more, or *last*, when this is cancelled."""
    rest_s = every_s
    try:
        while True:
            await clock.sleep(rest_s)
            begun = clock.monotonic()
            await save()
            took_s = clock.monotonic() - begun
            rest_s = max(every_s, min(RESTS * took_s, LONGEST_REST_S))
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_S):
                await (last or save)()
