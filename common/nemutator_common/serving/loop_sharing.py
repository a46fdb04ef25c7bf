"""Work that comes from many callers at the same moment, of which each turn of the event loop does so much.

Event loops report in one turn whatever has happened until then. When ten thousand connections end together, as after an
outage of the network, one turn would be all of these ends, and whatever else is due would wait for it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context

FREE = 8
"""Pieces of work until the end of a turn is waited for. Where less happens nothing is done for the bound, and a turn may then have
so many fewer."""


class LoopTurns:
    """Bounds the work of one kind in each turn of the running loop. What is put off is done in its order."""

    __slots__ = ("_done", "_is_due", "_loop", "_most", "_outside", "_waiting")

    def __init__(self, most: int) -> None:
        """*most*: pieces in a turn."""
        assert most > FREE
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._done = 0
        """Pieces since a turn was known to begin."""
        self._is_due = False
        """Whether the next turn will say that it begins."""
        self._waiting: deque[Callable[[], None]] = deque()
        self._outside = Context()
        """In which what was put off is done, and not in that of whichever request goes on just now."""

    def take(self) -> bool:
        """Whether one more piece may be done in this turn; whoever may not puts it off by `later`."""
        if self._done >= self._most:
            return False
        self._done += 1
        if self._done >= FREE:
            self._await_turn()
        return True

    def later(self, work: Callable[[], None]) -> None:
        """Do *work* in a turn that has room for it, and not before the next one."""
        self._waiting.append(work)
        self._await_turn()

    async def room(self) -> None:
        """Wait until one more piece may be done."""
        if self.take():
            return
        begun: asyncio.Future[None] = self._loop.create_future()

        def begin() -> None:
            if not begun.done():
                begun.set_result(None)

        self.later(begin)
        await begun

    def _await_turn(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._outside.run(self._loop.call_soon, self._begin_turn)

    def _begin_turn(self) -> None:
        self._is_due = False
        self._done = 0
        try:
            while self._waiting and self._done < self._most:
                self._done += 1
                self._waiting.popleft()()
        finally:
            # Also where one of them has failed, which the loop is told.
            if self._waiting or self._done >= FREE:
                self._await_turn()
