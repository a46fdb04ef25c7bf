"""How often a caller may ask: a burst at once, and a rate per second after it."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

UNATTESTED_RATE = 1.0
UNATTESTED_BURST = 10.0
"""Records a second of callers who are not let in: whoever floods one socket must not push out the records
of others."""


@dataclass(eq=False, slots=True, kw_only=True)
class RateLimit:
    rate: float
    burst: float
    _at: float | None = field(default=None, init=False)
    _level: float = field(init=False)

    def __post_init__(self) -> None:
        self._level = self.burst

    def take(self, now: float) -> bool:
        """Whether the caller may ask at *now*, which never runs backwards; if so, this uses one up."""
        if self._at is not None:
            self._level = min(self.burst, self._level + (now - self._at) * self.rate)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    def wait_s(self, now: float) -> float:
        """Use one up at *now*; how long that has to wait when there was none left."""
        if not self.take(now):
            self._level -= 1
        return max(0.0, -self._level / self.rate)

    def spend(self, more: float) -> None:
        """What was taken turns out to cost *more*, for which the next requests have to wait."""
        self._level -= more


def unattested_records() -> RateLimit:
    return RateLimit(rate=UNATTESTED_RATE, burst=UNATTESTED_BURST)


@dataclass(eq=False, slots=True, kw_only=True)
class RateLimits:
    """A limit for each of many callers; those that asked longest ago are forgotten, and start anew."""

    rate: float
    burst: float
    most: int = 1024
    _limits: OrderedDict[Hashable, RateLimit] = field(default_factory=OrderedDict, init=False)

    def take(self, who: Hashable, now: float) -> bool:
        limit = self._limits.pop(who, None) or RateLimit(rate=self.rate, burst=self.burst)
        self._limits[who] = limit
        if len(self._limits) > self.most:
            self._limits.popitem(last=False)
        return limit.take(now)
