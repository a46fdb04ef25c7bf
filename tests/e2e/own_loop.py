"""What needs an event loop of its own beside a browser, which has the one of the test's thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 300.0
"""What it runs may be a whole installation of three hundred nodes, on a busy machine."""


@contextmanager
def standing_beside(what: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What the context manager gives, for as long as the block lasts."""
    given: list[T] = []
    stands, stop = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def stand() -> None:
        loops.append(asyncio.get_running_loop())
        async with what as one:
            given.append(one)
            stands.set()
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(stand())
        finally:
            stands.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert stands.wait(timeout=PATIENCE_S)
        assert given, "it did not come to stand"
        yield given[0]
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(timeout=PATIENCE_S)
