"""Learns from what containers have used, as soon as it is stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints
from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.histograms import Rows
from nemutator_controller.sizing.keys import ContainerKey, replica_number
from nemutator_controller.sizing.ports import RequestedMemory
from nemutator_controller.sizing.samples import UsageSamples, are_sound
from nemutator_controller.sizing.usages import Usages


@dataclass(frozen=True, slots=True)
class NothingRequested:
    """A `RequestedMemory` of machines outside of a cluster."""

    def of(self, series: Series) -> float:
        return 0.0


NOTHING_REQUESTED = NothingRequested()


@dataclass(slots=True)
class _NodeRows:
    """What is known of the series of one node, as arrays, so that nothing is looked up again for each point."""

    owners: Sequence[ContainerKey | None]
    rows: Rows
    """-1: it has none, or it was not asked for; `_NOBODY`: its owner is not known."""
    replicas: npt.NDArray[np.int64]
    """0: not worked out yet."""
    moves: int

    def rows_of(self, usages: Usages, one: NodePoints) -> Rows:
        """The row of each point."""
        of, series = one.points.of, one.points.series
        if len(self.owners) > len(self.rows):
            more = len(self.owners) - len(self.rows)
            self.rows = np.append(self.rows, np.full(more, _NOBODY, dtype=np.intp))
            self.replicas = np.append(self.replicas, np.zeros(more, dtype=np.int64))
        if self.moves != usages.moves:
            # Some row belongs to somebody else by now.
            self.moves = usages.moves
            self.rows[:] = _NOBODY
        found = self.rows[of]
        if found.min() < 0:
            for number in np.unique(of[found < 0]).tolist():
                owner = self.owners[number]
                if owner is not None:
                    self.rows[number] = usages.row_of(owner)
                    if not self.replicas[number]:
                        self.replicas[number] = replica_number(one.node, series[number])
            found = self.rows[of]
        return found


_NOBODY = -2


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The points of one report that belong to somebody."""

    points: UsagePoints
    of: npt.NDArray[np.int32]
    taken: npt.NDArray[np.bool_]
    rows: Rows
    replicas: npt.NDArray[np.int64]
    numbers: Rows
    """In the keys of those that have no row yet."""


@dataclass(frozen=True, slots=True)
class UsageLearner:
    """A `UsageConsumer`."""

    usages: Usages
    owners: SeriesOwners[ContainerKey]
    process: Process
    requested: RequestedMemory = NOTHING_REQUESTED
    _nodes: dict[str, _NodeRows] = field(default_factory=dict, init=False)
    """The last heard of at the end."""

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        self.learn_all([NodePoints(node, points)], now)

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        keys: dict[ContainerKey, int] = {}
        gathered, unsound, unknown = [], 0, 0
        for one in reported:
            if not len(one.points):
                continue
            found, wrong = self._gather(one, keys, now=now)
            unsound += wrong
            unknown += len(one.points) - wrong - len(found.rows)
            if len(found.rows):
                gathered.append(found)
        meter = self.process.meter
        meter.count(names.SUMMARIES_DROPPED, unsound, reason="unsound")
        meter.count(names.SUMMARIES_DROPPED, unknown, reason="unknown_owner")
        if gathered:
            done = self.usages.learn(self._samples(gathered, list(keys)), now=now)
            meter.count(names.SUMMARIES_LEARNED, done.learned)
            meter.count(names.SUMMARIES_DROPPED, done.refused, reason="no_room")
            meter.count(names.USAGES_DROPPED, done.evicted, reason="count")
        meter.gauge(names.USAGES, len(self.usages))

    def _gather(
        self, one: NodePoints, keys: dict[ContainerKey, int], *, now: float
    ) -> tuple[_Gathered, int]:
        """What can be learned of *one*, and how many of its points make no sense."""
        points = one.points
        owners = self.owners.of(one.node, points, now=now)
        cores, memory = points.column("cpu_cores"), points.column("memory_bytes")
        sound = are_sound(points.from_at, points.to_at, cores, memory, now=now)
        known = self._nodes.pop(one.node, None)
        if known is None or known.owners is not owners:
            known = _NodeRows(
                owners, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64), self.usages.moves
            )
        self._nodes[one.node] = known
        if len(self._nodes) > self.owners.most_nodes:
            del self._nodes[next(iter(self._nodes))]
        rows = known.rows_of(self.usages, one)
        taken = sound & (rows > _NOBODY)
        of, rows = points.of[taken], rows[taken]
        numbers = np.full(len(rows), -1, dtype=np.intp)
        without = rows < 0
        if without.any():
            new, places = np.unique(of[without], return_inverse=True)
            named = [owner for number in new.tolist() if (owner := owners[number]) is not None]
            of_new = [keys.setdefault(owner, len(keys)) for owner in named]
            numbers[without] = np.array(of_new, dtype=np.intp)[places]
        found = _Gathered(points, of, taken, rows, known.replicas[of], numbers)
        return found, len(sound) - int(np.count_nonzero(sound))

    def _samples(self, several: Sequence[_Gathered], keys: Sequence[ContainerKey]) -> UsageSamples:
        def of_all(column: Callable[[_Gathered], npt.NDArray[Any]]) -> npt.NDArray[Any]:
            return np.concatenate([column(one) for one in several])

        def named(name: str) -> Numbers:
            return of_all(lambda one: one.points.column(name)[one.taken])

        kills = named("oom_kills")
        return UsageSamples(
            keys=keys,
            of=of_all(lambda one: one.numbers),
            rows=of_all(lambda one: one.rows),
            from_at=of_all(lambda one: one.points.from_at[one.taken]),
            to_at=of_all(lambda one: one.points.to_at[one.taken]),
            cpu_cores=named("cpu_cores"),
            memory_bytes=named("memory_bytes"),
            replicas=of_all(lambda one: one.replicas),
            throttled=named("throttled"),
            kills=kills,
            requested=self._requested(several, kills),
            # Of a hundred.
            cpu_waiting=named("cpu_waiting") / 100,
            memory_waiting=named("memory_waiting") / 100,
        )

    def _requested(self, several: Sequence[_Gathered], kills: Numbers) -> Numbers:
        """Of those that were killed: kills are rare, and a look-up is not free."""
        found = np.zeros(len(kills))
        ends = np.cumsum([len(one.rows) for one in several])
        for place in np.flatnonzero(kills > 0).tolist():
            report = int(np.searchsorted(ends, place, side="right"))
            one = several[report]
            number = int(one.of[place - (int(ends[report - 1]) if report else 0)])
            found[place] = self.requested.of(one.points.series[number])
        return found
