"""What windows may cost: CPU time as it comes in, and memory. What would pass it is not begun."""

from dataclasses import dataclass, field
from typing import Literal

SAVED_S = 600.0
"""CPU time is saved up for so long."""
LEAST_SAVED_S = 2.0
"""CPU time that is there at the start, and can be saved up at least: a first look reads a whole program."""
_USUAL_S = 0.5
_REMEMBERS = 0.75

Passed = Literal["cpu", "memory"]
WindowKind = Literal["heap", "cpu"]
"""They cost very differently: a window of the whole node, and the heap of one process."""


@dataclass(slots=True)
class WindowBudget:
    share: float
    """CPU time by time: 0.02 is two hundredths of one CPU."""
    most_bytes: int
    _credit_s: float = field(init=False)
    _at: float | None = field(default=None, init=False)
    _expected_s: dict[WindowKind, float] = field(default_factory=dict, init=False)
    _stopped: set[WindowKind] = field(default_factory=set, init=False)
    """What CPU time was short for."""

    def __post_init__(self) -> None:
        self._credit_s = LEAST_SAVED_S

    @property
    def most_s(self) -> float:
        return max(self.share * SAVED_S, LEAST_SAVED_S)

    def expected_s(self, kind: WindowKind) -> float:
        """What a look costs, by those before."""
        return self._expected_s.get(kind, _USUAL_S)

    @property
    def credit_s(self) -> float:
        return self._credit_s

    def passed(self, kind: WindowKind, *, now: float, memory_bytes: int) -> Passed | None:
        """Which bound the next look would pass. After a stop, two looks must be paid for, so that windows
        do not begin and stop with each."""
        since, self._at = self._at, now
        if since is not None:
            earned = max(now - since, 0.0) * self.share
            self._credit_s = min(self._credit_s + earned, self.most_s)
        if memory_bytes > self.most_bytes:
            return "memory"
        times = 2 if kind in self._stopped else 1
        if self._credit_s < min(times * self.expected_s(kind), self.most_s):
            self._stopped.add(kind)
            return "cpu"
        self._stopped.discard(kind)
        return None

    def spend(self, kind: WindowKind, cpu_s: float) -> None:
        """A look has cost that much: it may have been more than there was, which delays the next."""
        self._credit_s -= cpu_s
        remembered = self.expected_s(kind) * _REMEMBERS + cpu_s * (1 - _REMEMBERS)
        self._expected_s[kind] = max(cpu_s, remembered)
