"""What was used last, of each series of each node: the newest point of each, in a few small arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints

GONE_S = 300.0
"""A series without a point for so long has ended, or its agent has: agents report each minute at least."""


class LastUse(msgspec.Struct, frozen=True, gc=False):
    """The last point of one series; None is not known."""

    series: Series
    at: float
    cpu_cores: float | None
    memory_bytes: float | None
    throttled: float | None
    network_received: float | None
    network_sent: float | None
    disk_read: float | None
    disk_written: float | None
    cpu_waiting: float | None
    memory_waiting: float | None
    disk_waiting: float | None


COLUMNS = LastUse.__struct_fields__[2:]


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    series: Sequence[Series]
    at: npt.NDArray[np.float64]
    """By series; 0 where there was no point yet."""
    columns: npt.NDArray[np.float32]


class CurrentUse:
    """A `UsageConsumer`, and the `UseNow` of the inventory."""

    def __init__(self, *, most_nodes: int) -> None:
        self._most = most_nodes
        self._nodes: dict[str, _Kept] = {}

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        for one in reported:
            self.learn(one.node, one.points, now)

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        """Later points win, in whatever order they come; another epoch begins anew."""
        kept = self._nodes.pop(node, None)
        length = len(points.series)
        at = np.zeros(length)
        columns = np.full((len(COLUMNS), length), np.nan, dtype=np.float32)
        if kept is not None and kept.series is points.series:
            at[: len(kept.at)] = kept.at
            columns[:, : len(kept.at)] = kept.columns
        order = np.argsort(points.to_at, kind="stable")
        # A clock that runs ahead must not keep what comes later out for ever.
        order = order[points.to_at[order] <= now + GONE_S]
        of = points.of[order]
        newest = np.full(length, -1)
        newest[of] = order
        fresh = np.flatnonzero((newest >= 0) & (points.to_at[newest] >= at))
        chosen = newest[fresh]
        at[fresh] = points.to_at[chosen]
        for number, name in enumerate(COLUMNS):
            columns[number, fresh] = points.column(name)[chosen]
        self._nodes[node] = _Kept(points.series, at, columns)
        if len(self._nodes) > self._most:
            del self._nodes[next(iter(self._nodes))]

    def nodes(self) -> tuple[str, ...]:
        return tuple(self._nodes)

    def of(self, node: str, *, now: float) -> list[LastUse]:
        """What *node* used last, as far as that is not long ago. Safe in a thread: arrays are replaced, not
        written."""
        kept = self._nodes.get(node)
        if kept is None:
            return []
        which = np.flatnonzero(kept.at >= now - GONE_S)
        moments = kept.at[which].tolist()
        rows = kept.columns[:, which].astype(np.float64).T.tolist()
        return [
            LastUse(
                kept.series[number], at, *(None if math.isnan(value) else value for value in row)
            )
            for number, at, row in zip(which.tolist(), moments, rows, strict=True)
        ]
