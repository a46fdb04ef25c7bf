"""How long threads of a group waited for a CPU, turn by turn: a histogram that the kernel keeps, and what two of its readings say.

The slots are those of bpf/nemutator_bpf/run_queue.bpf.c: two for each doubling, in units of 1024 ns.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

from nemutator_agent.usage.hierarchies import Hierarchy

SLOTS = 47

LEAST_TURNS = 100
"""Of which one in a hundred can be told apart."""

PART = 0.99

_NS_PER_S = 1_000_000_000
_UNIT_S = 1024 / _NS_PER_S


@dataclass(frozen=True, slots=True)
class RunDelays:
    """Since the group is looked at; it only grows."""

    waited_ns: int
    turns: Sequence[int]
    """By slot, how often a thread got a CPU after so long."""


@dataclass(frozen=True, slots=True)
class WaitedTurns:
    """Between two readings."""

    share: float
    """Seconds per second, of all threads together."""
    p99: float | None
    """Seconds that 99 of 100 turns did not have to wait for longer; None of too few turns."""


class RunQueues(Protocol):
    """Where turns of threads are timed; nothing here waits."""

    def delays(self, path: str, hierarchies: Iterable[Hierarchy]) -> RunDelays | None:
        """Of the group at *path* and all below it, from the first time that it is asked for; None where that is not timed."""
        ...

    def forget(self, living: Collection[str]) -> None:
        """Time no other groups than *living* any more."""
        ...


class UntimedQueues:
    """The `RunQueues` of a kernel that is not asked."""

    def delays(self, _path: str, _hierarchies: Iterable[Hierarchy]) -> RunDelays | None:
        return None

    def forget(self, living: Collection[str]) -> None:
        """It remembers none."""


UNTIMED = UntimedQueues()


def waited_between(
    before: RunDelays | None, after: RunDelays, elapsed_s: float
) -> WaitedTurns | None:
    """None where there was no reading before, or it is of another group."""
    if before is None or elapsed_s <= 0:
        return None
    turns = [new - old for old, new in zip(before.turns, after.turns, strict=True)]
    waited_ns = after.waited_ns - before.waited_ns
    if waited_ns < 0 or min(turns) < 0:
        return None
    return WaitedTurns(round(waited_ns / _NS_PER_S / elapsed_s, 6), _quantile(turns))


def _quantile(turns: Sequence[int]) -> float | None:
    total = sum(turns)
    if total < LEAST_TURNS:
        return None
    left = PART * total
    for slot, count in enumerate(turns):
        left -= count
        if left <= 0:
            return middle_s(slot)
    return middle_s(len(turns) - 1)


def middle_s(slot: int) -> float:
    """What a turn of this slot has waited, at most a fifth more or less, but for the first and the last one."""
    low, high = bounds(slot)
    return float(f"{(sqrt(low * high) if low else high / 2) * _UNIT_S:.3g}")


def bounds(slot: int) -> tuple[float, float]:
    """From which unit on a slot counts, and below which; the last one has no end."""
    if slot == 0:
        return 0.0, 1.0
    octave, half = divmod(slot - 1, 2)
    low = 2.0**octave
    if octave == 0:
        # One unit has no half.
        return (1.0, 2.0) if half == 0 else (2.0, 2.0)
    return (low, 1.5 * low) if half == 0 else (1.5 * low, 2 * low)
