"""The testbed's `until` for a condition that has to be awaited."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.testbed.running import waiting

PATIENCE_S = 60.0


async def until(holds: Callable[[], Coroutine[Any, Any, object]], what: str) -> None:
    """Return once *holds* gives something true, which it is asked again and again in this loop."""
    loop = asyncio.get_running_loop()

    def holds_now() -> object:
        return asyncio.run_coroutine_threadsafe(holds(), loop).result()

    await asyncio.to_thread(waiting.until, holds_now, what, within_s=PATIENCE_S)
