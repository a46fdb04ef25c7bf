"""Work on a disk that may be slow: in a thread, one piece of it at a time, and no longer than somebody waits."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def on_disk(work: Callable[[], T], turn: threading.Lock, *, within_s: float) -> T:
    """What *work* returns, once it is its *turn*. Raises what it raises, and TimeoutError where it takes longer:
    then it still goes on, and nobody hears how it ends."""

    def alone() -> T:
        with turn:
            return work()

    async with asyncio.timeout(within_s):
        return await asyncio.to_thread(alone)
