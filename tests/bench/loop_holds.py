"""How long the loop of a process was held up, by its own clock."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nemutator_common import names

from tests.e2e.talking import ask

MOST_S = 0.1
"""The aim: an edge of the metric's buckets."""


@dataclass(frozen=True, slots=True)
class LoopHolds:
    by_edge: tuple[tuple[float, float], ...]
    """How many wakes of the loop were so late at most."""

    @classmethod
    def of(cls, metrics: str) -> "LoopHolds":
        """Since the process has begun."""
        line = rf'^{names.LOOP_HELD.name}_bucket{{le="(.*)"}} (\S+)$'
        found = re.findall(line, metrics, re.MULTILINE)
        return cls(tuple((float(edge), float(count)) for edge, count in found))

    @classmethod
    def seen(cls, socket: Path) -> "LoopHolds":
        return cls.of(ask(socket, "/metrics").text)

    def since(self, before: "LoopHolds") -> "LoopHolds":
        pairs = zip(self.by_edge, before.by_edge, strict=True)
        return LoopHolds(tuple((edge, now - then) for (edge, now), (_, then) in pairs))

    def told(self) -> dict[str, Any]:
        """The least edge that no hold was beyond, and how many were longer than the aim."""
        wakes = max(count for _, count in self.by_edge)
        return {
            "loop_held_at_most_s": next(edge for edge, count in self.by_edge if count == wakes),
            "loop_held_over_100_ms": int(wakes - dict(self.by_edge)[MOST_S]),
        }
