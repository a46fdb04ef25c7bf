"""What neighbours take from each other, and how much of it is worth a grade."""

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass


class Contended(enum.StrEnum):
    CPU = "cpu"
    TURNS = "turns"
    """Of a CPU, too: seldom waited for, and then for long. Requests that meet it are slow, the mean is not."""
    MEMORY = "memory"
    DISK = "disk"
    CACHE = "cache"
    """Caches of the processors and the bandwidth of memory: nobody waits, and the same work takes more CPU."""
    NETWORK = "network"

    def shown(self, suffering: float) -> str:
        """For people."""
        if self is Contended.TURNS:
            return f"{1_000 * suffering:.3g} ms"
        return f"{'+' if self is Contended.CACHE else ''}{100 * suffering:.0f} %"


@dataclass(frozen=True, slots=True)
class ContendedScale:
    """What is a little and what is much of one resource."""

    suffering: tuple[float, float, float, float]
    """From which on it has grade 1, 2, 3 and 4. Below the first nobody is a victim."""
    least: float
    """An aggressor takes at least this, in the unit of the resource."""
    sentence: str
    """What a victim of it does, for people."""


SCALES = {
    # Shares of the time in which it could have run, or of any task's time (PSI). Below a tenth
    # requests are slowed down by less than their own spread.
    Contended.CPU: ContendedScale((0.10, 0.20, 0.40, 0.60), 0.1, "waits for a CPU"),
    # Seconds that one turn in a hundred takes to come. The kernel's own slices are 3 to 4 ms long.
    Contended.TURNS: ContendedScale(
        (0.010, 0.025, 0.070, 0.150), 0.1, "waits long for some turns on a CPU"
    ),
    # Memory pressure hurts earlier: what is read again comes from a disk.
    Contended.MEMORY: ContendedScale((0.05, 0.10, 0.25, 0.50), 0.0625, "waits for memory"),
    Contended.DISK: ContendedScale((0.10, 0.20, 0.40, 0.60), 1.0, "waits for a disk"),
    # More CPU for each byte that it serves than when the other is quiet.
    Contended.CACHE: ContendedScale(
        (0.15, 0.30, 0.60, 1.00), 0.5, "needs more CPU for the same work"
    ),
    # Less than its own usual traffic, while the node's network is at its busiest.
    Contended.NETWORK: ContendedScale((0.25, 0.40, 0.60, 0.80), 1.0, "gets less of the network"),
}
"""Units of what is taken: cores, GiB, and MB per second."""

GRADES = 5
"""0 to 4."""

SHARE_OF_NODE = 0.10
"""Of what all pods of its node together take at their busiest, which an aggressor takes at least."""


def level(resource: Contended, suffering: float) -> float:
    """*suffering* between grades: 1.5 is half way from grade 1 to grade 2; not below 0, not above 4."""
    bounds: Sequence[float] = (0.0, *SCALES[resource].suffering)
    if not suffering > 0:
        return 0.0
    for grade, (low, high) in enumerate(itertools.pairwise(bounds)):
        if suffering < high:
            return grade + (suffering - low) / (high - low)
    return float(GRADES - 1)
