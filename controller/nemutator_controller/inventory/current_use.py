"""What was used last, of each series of each node: the newest point of each, in a few small arrays."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.points_together import PointsTogether, parts_of
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints

GONE_S = 300.0
"""A series without a point for so long has ended, or its agent has: agents report each minute at least."""


class LastUse(msgspec.Struct, frozen=True, gc=False):
    """The last point of one series; None is not known."""

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


COLUMNS = LastUse.__struct_fields__
CPU_CORES = COLUMNS.index("cpu_cores")


@dataclass(frozen=True, slots=True, eq=False)
class NodeUse:
    """What one node has said last. Nothing of it is changed later, so that it may be read in a thread."""

    series: Sequence[Series]
    """It may have grown since: entries beyond the arrays have no point here."""
    at: npt.NDArray[np.float64]
    """By series; 0 where there was no point yet."""
    columns: npt.NDArray[np.float32]
    """NaN is not known."""

    def containers(self, *, now: float) -> Mapping[str, Mapping[str, int]]:
        """By pod, the number of each container's series that has a point and has not ended."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        lasting = (self.at >= now - GONE_S).tolist()
        for number, (lasts, one) in enumerate(zip(lasting, self.series, strict=False)):
            # A pod's own group has the sum of its containers.
            if lasts and one.pod_uid is not None and one.container_id is not None:
                found[one.pod_uid][one.container_id] = number
        return found

    def last(self, number: int) -> LastUse:
        row = self.columns[:, number].tolist()
        return LastUse(*(None if math.isnan(value) else value for value in row))


class CurrentUse:
    """A `UsageConsumer`, and the `UseNow` of the inventory."""

    def __init__(self, *, most_nodes: int) -> None:
        self._most = most_nodes
        self._nodes: dict[str, NodeUse] = {}

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        """Later points win, in whatever order they come; another epoch begins anew."""
        for part in parts_of(reported):
            self._take(part, now)

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        self.learn_all([NodePoints(node, points)], now)

    def _take(self, part: PointsTogether, now: float) -> None:
        length = part.ends[-1]
        at = np.zeros(length)
        columns = np.full((len(COLUMNS), length), np.nan, dtype=np.float32)
        begin = 0
        for one, end in zip(part.reported, part.ends, strict=True):
            kept = self._kept(one)
            there = min(len(kept.at), end - begin)
            at[begin : begin + there] = kept.at[:there]
            columns[:, begin : begin + there] = kept.columns[:, :there]
            begin = end
        order = np.argsort(part.to_at, kind="stable")
        # A clock that runs ahead must not keep what comes later out for ever.
        order = order[part.to_at[order] <= now + GONE_S]
        newest = np.full(length, -1)
        newest[part.series[order]] = order
        fresh = np.flatnonzero((newest >= 0) & (part.to_at[newest] >= at))
        chosen = newest[fresh]
        at[fresh] = part.to_at[chosen]
        for number, name in enumerate(COLUMNS):
            values = part.known(name)
            columns[number, fresh] = np.nan if values is None else values[chosen]
        begin = 0
        for one, end in zip(part.reported, part.ends, strict=True):
            if one.node in self._nodes:
                theirs, figures = at[begin:end], columns[:, begin:end]
                if len(part.reported) > 1:
                    # What one node has said must not keep what others have.
                    theirs, figures = theirs.copy(), figures.copy()
                self._nodes[one.node] = NodeUse(one.points.series, theirs, figures)
            begin = end

    def _kept(self, one: NodePoints) -> NodeUse:
        kept = self._nodes.pop(one.node, None)
        if kept is None or kept.series is not one.points.series:
            nothing = np.zeros((len(COLUMNS), 0), dtype=np.float32)
            kept = NodeUse(one.points.series, np.zeros(0), nothing)
        self._nodes[one.node] = kept
        if len(self._nodes) > self._most:
            del self._nodes[next(iter(self._nodes))]
        return kept

    def nodes(self) -> Mapping[str, NodeUse]:
        """What each has used last."""
        return dict(self._nodes)
