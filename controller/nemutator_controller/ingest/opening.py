"""Has bodies opened in short turns of the event loop: decoded, checked and shown.

All connections that have become readable in one turn are served in that turn. Where an agent names its series one body takes some 6 ms, and
two dozen of them would hold up everybody else for as long as all together. So what does not fit into a turn
waits for the next one, in the order in which it came, and polls, answers and whoever else waits are served in between.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from nemutator_common.clocks import Clock

T = TypeVar("T")

LONG_S = 0.01
"""After so much of a turn no further body is opened in it. It is the time of the whole turn: where others have worked for long in it
already, as those who learn from reports, it is over for bodies too."""


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[T]):
    open_body: Callable[[], T]
    done: "asyncio.Future[T]"


@dataclass(slots=True)
class OpeningTurns:
    """What waits is bounded by whoever bounds the bodies: each is in memory until its caller has an answer."""

    clock: Clock
    _waiting: deque[_Waiting[Any]] = field(default_factory=deque, init=False)
    _began_at: float | None = field(default=None, init=False)
    """When this turn began, as far as bodies know; None: no body was opened in it."""

    async def opened(self, open_body: Callable[[], T]) -> T:
        """What *open_body* returns or raises. It is called in this turn, if nobody waits and there is time left of it."""
        if not self._waiting and not self._is_over():
            self._begin()
            return open_body()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(open_body, done))
        return await done

    def _is_over(self) -> bool:
        began_at = self._began_at
        return began_at is not None and self.clock.monotonic() - began_at >= LONG_S

    def _begin(self) -> None:
        if self._began_at is None:
            self._began_at = self.clock.monotonic()
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._began_at = None
        # However slow this machine is, each turn opens one.
        while self._waiting and not self._is_over():
            waiting = self._waiting.popleft()
            # Of those whose callers have gone nothing is known yet, so that they may come again.
            if not waiting.done.done():
                self._begin()
                _open(waiting)


def _open(waiting: _Waiting[Any]) -> None:
    try:
        waiting.done.set_result(waiting.open_body())
    except Exception as error:  # noqa: BLE001 - whoever waits gets it
        waiting.done.set_exception(error)
        # Looked at here: a caller that goes in this very turn does not, and that is no defect to be logged.
        waiting.done.exception()
