"""Learns from what containers have used, as soon as it is stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ingest.points_together import PointsTogether, parts_of
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints
from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.histograms import Rows
from nemutator_controller.sizing.keys import ContainerKey, replica_number
from nemutator_controller.sizing.ports import RequestedMemory
from nemutator_controller.sizing.samples import UsageSamples, are_sound
from nemutator_controller.sizing.usages import Usages

A = TypeVar("A", bound=np.generic)


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

    def fit(self, usages: Usages) -> None:
        """Have an entry for each owner, and no row that belongs to somebody else by now."""
        if len(self.owners) > len(self.rows):
            more = len(self.owners) - len(self.rows)
            self.rows = np.append(self.rows, np.full(more, _NOBODY, dtype=np.intp))
            self.replicas = np.append(self.replicas, np.zeros(more, dtype=np.int64))
        if self.moves != usages.moves:
            self.moves = usages.moves
            self.rows[:] = _NOBODY

    def ask(self, usages: Usages, one: NodePoints) -> None:
        """Look up the rows of what *one* has points of."""
        of, series = one.points.of, one.points.series
        for number in np.unique(of[self.rows[of] < 0]).tolist():
            owner = self.owners[number]
            if owner is not None:
                self.rows[number] = usages.row_of(owner)
                if not self.replicas[number]:
                    self.replicas[number] = replica_number(one.node, series[number])


_NOBODY = -2


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The points of several nodes that belong to somebody."""

    part: PointsTogether
    taken: npt.NDArray[np.bool_] | None
    """Which of *part* they are; None: all."""
    rows: Rows
    replicas: npt.NDArray[np.int64]
    numbers: Rows
    """In the keys of those that have no row yet."""

    def of(self, column: npt.NDArray[A]) -> npt.NDArray[A]:
        return column if self.taken is None else column[self.taken]


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
        for part in parts_of(reported):
            found, wrong = self._gather(part, keys, now=now)
            unsound += wrong
            unknown += len(part) - wrong - len(found.rows)
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
        self, part: PointsTogether, keys: dict[ContainerKey, int], *, now: float
    ) -> tuple[_Gathered, int]:
        """What can be learned of *part*, and how many of its points make no sense."""
        nodes = [self._node(one, now=now) for one in part.reported]
        cores, memory = part.column("cpu_cores"), part.column("memory_bytes")
        sound = are_sound(part.from_at, part.to_at, cores, memory, now=now)
        rows = part.by_series([one.rows for one in nodes])[part.series]
        if rows.min() < 0:
            for known, one in zip(nodes, part.reported, strict=True):
                known.ask(self.usages, one)
            rows = part.by_series([one.rows for one in nodes])[part.series]
        replicas = part.by_series([one.replicas for one in nodes])[part.series]
        taken = sound & (rows > _NOBODY)
        series, which = part.series, None
        if not taken.all():
            which, series, rows, replicas = taken, series[taken], rows[taken], replicas[taken]
        numbers = np.full(len(rows), -1, dtype=np.intp)
        without = rows < 0
        if without.any():
            new, places = np.unique(series[without], return_inverse=True)
            found = [part.place(number) for number in new.tolist()]
            named = [owner for node, of in found if (owner := nodes[node].owners[of]) is not None]
            of_new = [keys.setdefault(owner, len(keys)) for owner in named]
            numbers[without] = np.array(of_new, dtype=np.intp)[places]
        gathered = _Gathered(part, which, rows, replicas, numbers)
        return gathered, len(sound) - int(np.count_nonzero(sound))

    def _node(self, one: NodePoints, *, now: float) -> _NodeRows:
        owners = self.owners.of(one.node, one.points, now=now)
        known = self._nodes.pop(one.node, None)
        if known is None or known.owners is not owners:
            known = _NodeRows(
                owners, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64), self.usages.moves
            )
        self._nodes[one.node] = known
        if len(self._nodes) > self.owners.most_nodes:
            del self._nodes[next(iter(self._nodes))]
        known.fit(self.usages)
        return known

    def _samples(self, several: Sequence[_Gathered], keys: Sequence[ContainerKey]) -> UsageSamples:
        def of_all(column: Callable[[_Gathered], npt.NDArray[Any]]) -> npt.NDArray[Any]:
            found = [column(one) for one in several]
            return found[0] if len(found) == 1 else np.concatenate(found)

        def named(name: str) -> Numbers:
            return of_all(lambda one: one.of(one.part.column(name)))

        def measured(name: str) -> Numbers | None:
            """None: nobody measures it."""
            return None if all(one.part.known(name) is None for one in several) else named(name)

        def shares(name: str) -> Numbers | None:
            """Of a hundred as parts of one."""
            found = measured(name)
            return None if found is None else found / 100

        kills = measured("oom_kills")
        return UsageSamples(
            keys=keys,
            of=of_all(lambda one: one.numbers),
            rows=of_all(lambda one: one.rows),
            from_at=of_all(lambda one: one.of(one.part.from_at)),
            to_at=of_all(lambda one: one.of(one.part.to_at)),
            cpu_cores=named("cpu_cores"),
            memory_bytes=named("memory_bytes"),
            replicas=of_all(lambda one: one.replicas),
            throttled=measured("throttled"),
            kills=kills,
            requested=self._requested(several, kills),
            cpu_waiting=shares("cpu_waiting"),
            memory_waiting=shares("memory_waiting"),
        )

    def _requested(self, several: Sequence[_Gathered], kills: Numbers | None) -> Numbers:
        """Of those that were killed: kills are rare, and a look-up is not free."""
        found = np.zeros(sum(len(one.rows) for one in several))
        if kills is None:
            return found
        ends = np.cumsum([len(one.rows) for one in several])
        for place in np.flatnonzero(kills > 0).tolist():
            number = int(np.searchsorted(ends, place, side="right"))
            one = several[number]
            within = place - (int(ends[number - 1]) if number else 0)
            node, of = one.part.place(int(one.of(one.part.series)[within]))
            found[place] = self.requested.of(one.part.reported[node].points.series[of])
        return found
