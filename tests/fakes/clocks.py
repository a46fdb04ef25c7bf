"""A clock whose hands a test moves."""

import asyncio
import heapq
import itertools


class ManualClock:
    """Time stands still until `advance()`; sleepers wake in the order of their times."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._slept = asyncio.Condition()

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._elapsed

    def jump(self, seconds: float) -> None:
        """Move the wall time only, as an operator or NTP does."""
        self._now += seconds

    @property
    def sleepers(self) -> int:
        return sum(not sleeper.done() for _, _, sleeper in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        sleeper = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), sleeper))
        async with self._slept:
            self._slept.notify_all()
        await sleeper

    async def until_sleeping(self, sleepers: int = 1, *, patience_s: float = 60.0) -> None:
        """Wait until so many sleep: what they do before is done."""
        async with asyncio.timeout(patience_s), self._slept:
            await self._slept.wait_for(lambda: self.sleepers >= sleepers)

    async def advance(self, seconds: float) -> None:
        """Let time pass, and whoever wakes on the way do what it does at its own time."""
        end = self._elapsed + seconds
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, sleeper = heapq.heappop(self._sleepers)
            if sleeper.done():
                continue
            self._pass(at - self._elapsed)
            sleeper.set_result(None)
            await _settle()
        self._pass(end - self._elapsed)
        await _settle()

    def _pass(self, seconds: float) -> None:
        self._elapsed += seconds
        self._now += seconds


async def _settle() -> None:
    """Give woken tasks some turns of the loop; what waits for real I/O needs its own event."""
    for _ in range(10):
        await asyncio.sleep(0)
