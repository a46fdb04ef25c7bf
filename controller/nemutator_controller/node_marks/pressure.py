"""How much tasks of a node wait for what it has, as a grade that does not flap: pure.

What counts is the mean of five minutes, of the worst of CPU, memory and disks. A node that is silent keeps its grade for
an hour: nobody knows that it is better.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from nemutator_controller.hysteresis import HeldGrades

WINDOW_S = 300.0
LEAST_SAMPLES = 4
KEPT_S = 3_600.0

CPU = (0.20, 0.40, 0.60, 0.80)
"""Shares of time in which some task of the node waited (PSI), from which on it has grade 1, 2, 3 and 4. Higher than those of a
container: on a node with a hundred of them one that waits is always there."""
MEMORY = (0.05, 0.10, 0.25, 0.50)
"""Waiting for memory hurts earlier: what is read again comes from a disk."""
DISK = CPU


@dataclass(frozen=True, slots=True)
class PressureSample:
    """Shares of time; None: not known."""

    at: float
    cpu: float | None
    memory: float | None
    disk: float | None


@dataclass(slots=True)
class NodePressures:
    window_s: float = WINDOW_S
    _samples: dict[str, deque[PressureSample]] = field(default_factory=dict, init=False)
    _held: HeldGrades[str] = field(default_factory=HeldGrades, init=False)

    def see(self, node: str, sample: PressureSample) -> None:
        """One more, unless it is the last one again."""
        found = self._samples.setdefault(node, deque(maxlen=64))
        if not found or found[-1].at < sample.at:
            found.append(sample)

    def assess(self, *, now: float) -> None:
        """Take one more look at all nodes; those that have not been heard of for an hour are forgotten."""
        scores: dict[str, float] = {}
        for node, samples in list(self._samples.items()):
            if now - samples[-1].at > KEPT_S or samples[-1].at > now + self.window_s:
                del self._samples[node]
                self._held.forget(node)
                continue
            recent = [one for one in samples if now - one.at <= self.window_s]
            if len(recent) >= LEAST_SAMPLES:
                scores[node] = max(
                    _level(_mean(one.cpu for one in recent), CPU),
                    _level(_mean(one.memory for one in recent), MEMORY),
                    _level(_mean(one.disk for one in recent), DISK),
                )
        self._held.assess(scores)

    def grade(self, node: str) -> int | None:
        """None: nobody can tell yet."""
        samples = self._samples.get(node)
        if samples is None or len(samples) < LEAST_SAMPLES:
            return None
        return self._held.grade(node)


def _mean(values: Iterable[float | None]) -> float:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else 0.0


def _level(share: float, bounds: tuple[float, ...]) -> float:
    """Between grades: 1.5 is half way from grade 1 to grade 2."""
    for grade, (low, high) in enumerate(pairwise((0.0, *bounds))):
        if share < high:
            return grade + max(0.0, share - low) / (high - low)
    return float(len(bounds))
