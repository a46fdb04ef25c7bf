"""The TLS handshakes of one listener that are under way: so many at a time, and fairly shared.

When ten thousand agents come back at once, a handshake costs the listener a millisecond or two. If it
began with all of them, each would have its deadline before its turn, and they would all begin again.
So it begins with some, and addresses take turns.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

MOST_WAITING = 256
"""Callers from one address that wait; some networks show the pods of many nodes under one."""


class TooManyWaitError(Exception):
    """So many callers are there that this one is not served."""


@dataclass(eq=False, slots=True)
class Handshake:
    source: str
    """The address that it comes from."""
    begun_at: float
    give_up: Callable[[], None]
    """Ends it, because it stands in the way of others."""
    given_up: bool = False


class Handshakes:
    """Callers who connect and say nothing keep their places only until others want them."""

    def __init__(self, most: int, patience_s: float, *, changed: Callable[[int], None]) -> None:
        """After *patience_s*, one that is under way may be given up for another."""
        self._most = most
        self._patience_s = patience_s
        self._changed = changed
        self._taken = 0
        """Places, those included that were given to somebody who does not know it yet."""
        self._under_way: dict[Handshake, None] = {}
        """In the order in which they began."""
        self._sources: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def begin(self, source: str, give_up: Callable[[], None]) -> Handshake:
        """Wait for a turn of *source*, and take it; raises TooManyWaitError at once."""
        if self._taken < self._most:
            self._taken += 1
        elif (crowd := self._largest_crowd(source)) is not None:
            self._hang_up(crowd)
        else:
            await self._turn(source)
        begun = Handshake(source, _now(), give_up)
        self._under_way[begun] = None
        self._sources[source] += 1
        self._changed(len(self._under_way))
        return begun

    def end(self, handshake: Handshake) -> None:
        """It is done, or has failed."""
        if handshake in self._under_way:
            self._forget(handshake)
            self._pass_on()

    async def _turn(self, source: str) -> None:
        queue = self._waiting.setdefault(source, deque())
        if len(queue) >= MOST_WAITING:
            raise TooManyWaitError("many of its address wait")
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            while not turn.done():
                first = next(iter(self._under_way), None)
                due = self._patience_s + (_now() if first is None else first.begun_at)
                await asyncio.wait([turn], timeout=max(0.0, due - _now()))
                if first is None or turn.done() or _now() < due:
                    continue
                if first in self._under_way:
                    self._hang_up(first)
                    self._pass_on()
        except asyncio.CancelledError:
            if turn.done():
                self._pass_on()  # it was given just now, and nobody takes it
            else:
                queue.remove(turn)
                if not queue:
                    self._waiting.pop(source, None)
            raise

    def _largest_crowd(self, source: str) -> Handshake | None:
        """The oldest one of the address that has most, unless one more would make *source* that address."""
        if not self._sources:
            return None
        crowded, count = max(self._sources.items(), key=lambda each: each[1])
        if count <= self._sources[source] + 1:
            return None
        return next(one for one in self._under_way if one.source == crowded)

    def _hang_up(self, handshake: Handshake) -> None:
        """Its place is the caller's to pass on."""
        handshake.given_up = True
        handshake.give_up()
        self._forget(handshake)

    def _forget(self, handshake: Handshake) -> None:
        del self._under_way[handshake]
        self._sources[handshake.source] -= 1
        if not self._sources[handshake.source]:
            del self._sources[handshake.source]
        self._changed(len(self._under_way))

    def _pass_on(self) -> None:
        """Give a place to the address that has waited for longest since its last turn."""
        if self._waiting:
            source, queue = self._waiting.popitem(last=False)
            queue.popleft().set_result(None)
            if queue:
                self._waiting[source] = queue
        else:
            self._taken -= 1


def _now() -> float:
    return asyncio.get_running_loop().time()
