"""How much we may write: a rate with a burst, few at once, and no endless queue."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from nemutator_common.clocks import Clock


class OverBudgetError(Exception):
    """So many writes wait already that this one would come too late to matter."""


class TokenBucket:
    """*per_s* on average, *burst* at once. It keeps one number: when the bucket will be full."""

    def __init__(self, *, per_s: float, burst: int) -> None:
        self._each_s = 1.0 / per_s
        self._burst_s = burst / per_s
        self._full_at = 0.0

    def take(self, now: float) -> float:
        """Take one, and return the seconds to wait before using it."""
        self._full_at = max(self._full_at, now) + self._each_s
        return max(0.0, self._full_at - self._burst_s - now)


class WriteBudget:
    """All that a process writes to one API server shares it."""

    def __init__(
        self,
        clock: Clock,
        *,
        per_s: float = 10.0,
        burst: int = 20,
        concurrent: int = 8,
        waiting: int = 1000,
    ) -> None:
        self._clock = clock
        self._bucket = TokenBucket(per_s=per_s, burst=burst)
        self._concurrent = asyncio.Semaphore(concurrent)
        self._room = concurrent + waiting

    @contextlib.asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it inside; raises `OverBudgetError` when too many wait."""
        if self._room == 0:
            raise OverBudgetError("too many writes wait for their turn")
        self._room -= 1
        try:
            async with self._concurrent:
                await self._clock.sleep(self._bucket.take(self._clock.monotonic()))
                yield
        finally:
            self._room += 1
