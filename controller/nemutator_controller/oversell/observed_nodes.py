"""A node as it is now, and what was seen of its use: pure."""

import math
from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nemutator_common import names

from nemutator_controller.oversell.decisions import NodeLoad
from nemutator_controller.oversell.ratios import cpu_millis, parse_ratio

KEPT_MINUTES = 60
LEAST_MINUTES = 5
"""Of fewer nobody can say what is usual."""
WAITING_SAMPLES = 20
FORGOTTEN_S = 24 * 3_600.0
ENABLED = "enabled"


class NodeRefusedError(Exception):
    """The API server does not let us write to nodes, or not now."""


class CeilingUnknownError(Exception):
    """Which SeasonPolicies are in force is not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedNode:
    name: str
    uid: str
    version: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    capacity_millis: int | None
    allocatable_millis: int | None
    requested_millis: int = 0
    used_millis: int | None = None
    """Of the whole machine, by its agent's last report."""
    usual_millis: int | None = None
    """What its pods use when they are busy."""
    waiting: float | None = None
    """Share of the last seconds in which some task waited for CPU."""
    reported_at: float | None = None

    @property
    def is_enabled(self) -> bool:
        return self.labels.get(names.OVERSELL) == ENABLED

    @property
    def ratio_text(self) -> str | None:
        return self.annotations.get(names.OVERSELL_RATIO)

    @property
    def ratio(self) -> int | None:
        """Hundredths that stand there; None: none, or what is none."""
        return None if self.ratio_text is None else parse_ratio(self.ratio_text)

    @property
    def is_ours(self) -> bool:
        """Whether anything of ours stands there."""
        return self.ratio_text is not None or names.RAW_CPU in self.annotations

    @property
    def kept_raw(self) -> int | None:
        """What the webhook has kept of what its kubelet has."""
        kept = cpu_millis(self.annotations.get(names.RAW_CPU))
        most = self.capacity_millis
        return kept if kept is not None and most is not None and kept <= most else None

    @property
    def raw_millis(self) -> int | None:
        """What its kubelet has for pods."""
        kept, said = self.kept_raw, self.allocatable_millis
        return said if kept is None else kept


@dataclass(slots=True)
class _Seen:
    at: float
    minute_at: float
    used: "array[int]"
    waiting: deque[float]


@dataclass(slots=True)
class NodeUses:
    """What nodes used in the last hour, a value for each minute, and how much tasks waited lately."""

    minute_s: float = 60.0
    _seen: dict[str, _Seen] = field(default_factory=dict, init=False)

    def see(self, nodes: Iterable[ObservedNode], *, now: float) -> None:
        for node in nodes:
            if node.reported_at is None or node.reported_at > now + self.minute_s:
                continue
            known = self._seen.get(node.uid)
            if known is None:
                known = self._seen[node.uid] = _Seen(
                    -math.inf, -math.inf, array("Q"), deque(maxlen=WAITING_SAMPLES)
                )
            if node.reported_at <= known.at:
                continue
            known.at = node.reported_at
            if node.waiting is not None:
                known.waiting.append(min(1.0, max(0.0, node.waiting)))
            if node.used_millis is not None:
                if node.reported_at - known.minute_at >= self.minute_s or not known.used:
                    known.minute_at = node.reported_at
                    known.used.append(max(0, node.used_millis))
                    del known.used[:-KEPT_MINUTES]
                else:
                    known.used[-1] = max(known.used[-1], node.used_millis)
        gone = [uid for uid, one in self._seen.items() if now - one.at > FORGOTTEN_S]
        for uid in gone:
            del self._seen[uid]

    def load(self, node: ObservedNode, *, now: float) -> NodeLoad | None:
        """None: its CPU is not known."""
        raw = node.raw_millis
        if raw is None:
            return None
        known = self._seen.get(node.uid)
        used = None if known is None else _high(known.used)
        return NodeLoad(
            raw_millis=raw,
            requested_millis=node.requested_millis,
            used_millis=used if used is None else max(used, node.usual_millis or 0),
            waiting=None
            if known is None or not known.waiting
            else sum(known.waiting) / len(known.waiting),
            silent_s=None if known is None else max(0.0, now - known.at),
        )


def _high(values: "array[int]") -> int | None:
    """What 95 of 100 do not exceed."""
    if len(values) < LEAST_MINUTES:
        return None
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]
