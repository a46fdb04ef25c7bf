"""Who may ask the API server next: sources take turns, so that one with many questions holds up no other."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field

MOST_WAITING = 256
"""Questions of one source that wait: an agent's pod has two processes, each of which asks once, and some
networks show the pods of many nodes under one address."""


class QueueFullError(Exception):
    """So many questions of this source wait already that one more is not taken."""


@dataclass(eq=False, slots=True)
class FairQueue:
    """A waiting question is a request, of which the listener takes so many: that bounds all sources."""

    at_once: int
    _: KW_ONLY
    most_waiting: int = MOST_WAITING
    _running: int = field(default=0, init=False)
    _waiting: OrderedDict[str, deque[asyncio.Future[None]]] = field(
        default_factory=OrderedDict, init=False
    )

    @asynccontextmanager
    async def turn(self, source: str) -> AsyncIterator[None]:
        """Wait for a turn of *source*, and have it; raises QueueFullError at once."""
        await self._take(source)
        try:
            yield
        finally:
            self._give()

    async def _take(self, source: str) -> None:
        if self._running < self.at_once:
            self._running += 1
            return
        waiting = self._waiting.setdefault(source, deque())
        if len(waiting) >= self.most_waiting:
            raise QueueFullError
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(source, turn)
            else:
                self._give()  # it was given just now, and nobody takes it
            raise

    def _forget(self, source: str, turn: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(source, deque())
        if turn in waiting:
            waiting.remove(turn)
            if not waiting:
                del self._waiting[source]

    def _give(self) -> None:
        """Pass the turn on to the source that has waited for longest since its last one."""
        while self._waiting:
            source, waiting = self._waiting.popitem(last=False)
            turn = waiting.popleft()
            if waiting:
                self._waiting[source] = waiting
            if not turn.cancelled():
                turn.set_result(None)
                return
        self._running -= 1
