"""How often somebody may ask: so many at once, so many each second after that."""

from collections import OrderedDict
from collections.abc import Hashable


class RateLimit:
    def __init__(self, *, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._level = burst
        self._at: float | None = None

    def take(self, now: float) -> bool:
        """Whether there was one left at *now*, which never runs backwards."""
        if self._at is not None:
            self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    def spend(self, more: float) -> None:
        """What was taken turns out to cost *more*: the next ones have to wait for it."""
        self._level -= more


class RateLimits:
    """One for each of many callers; those who asked longest ago are forgotten, and start anew."""

    def __init__(self, *, rate: float, burst: float, most: int = 1024) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._buckets: OrderedDict[Hashable, RateLimit] = OrderedDict()

    def take(self, who: Hashable, now: float) -> bool:
        bucket = self._buckets.pop(who, None) or RateLimit(rate=self._rate, burst=self._burst)
        self._buckets[who] = bucket
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return bucket.take(now)
