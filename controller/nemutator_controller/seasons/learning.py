"""Adds what workloads used to their days, as soon as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ingest.points_together import PointsTogether, parts_of
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints
from nemutator_controller.seasons.day_book import DayBook, Scope

LONGEST_POINT_S = 120.0
MOST_CORES = 100_000.0

_PASSES = 3
"""How often the lines of a report are looked up, while lines that make room for others are among them."""

OwnedScope = tuple[Scope, bool]
"""A workload, and whether its use counts in the sum of all."""


@dataclass(slots=True)
class _NodeLines:
    """The lines of the series of one node, so that they are not looked up again with each report."""

    owners: Sequence[OwnedScope | None]
    moves: int
    lines: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """-1: it has none, or was not asked for."""
    counts: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def has_all(self, of: npt.NDArray[np.int32]) -> bool:
        """Whether each of the series *of* has a line."""
        if len(self.lines) < len(self.owners):
            return False
        if self.lines.min(initial=0) >= 0:
            return True
        return bool(self.lines[of].min() >= 0)

    def ask(self, book: DayBook, of: npt.NDArray[np.int32], *, now: float) -> int:
        """Look up those of the series *of* that have no line yet; how many there was no room for."""
        if more := len(self.owners) - len(self.lines):
            self.lines = np.append(self.lines, np.full(more, -1, dtype=np.int32))
            self.counts = np.append(self.counts, np.zeros(more, dtype=np.bool_))
        no_room = 0
        for _ in range(_PASSES):
            no_room = self._find(book, of, now=now)
            if self.moves == book.moves:
                break
            # A line that was found has become another's.
            self.lines[:], self.moves = -1, book.moves
        return no_room

    def _find(self, book: DayBook, of: npt.NDArray[np.int32], *, now: float) -> int:
        no_room = 0
        for number in np.unique(of[self.lines[of] < 0]).tolist():
            owner = self.owners[number]
            if owner is None:
                continue
            line = book.line_of(owner[0], now=now)
            if line is None:
                no_room += 1
                continue
            self.lines[number], self.counts[number] = line, owner[1]
        return no_room


@dataclass(frozen=True, slots=True)
class SeasonLearner:
    """A `UsageConsumer`."""

    book: DayBook
    owners: SeriesOwners[OwnedScope]
    process: Process
    _nodes: dict[str, _NodeLines] = field(default_factory=dict, init=False)
    """The last heard of at the end."""

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        for part in parts_of(reported):
            lines = [self._lines(one, now=now) for one in part.reported]
            lacking = [
                (known, one)
                for known, one in zip(lines, part.reported, strict=True)
                if not known.has_all(one.points.of)
            ]
            if lacking and self.book.room < part.ends[-1]:
                self._add_singly(part, now=now)
                continue
            no_room = sum(known.ask(self.book, one.points.of, now=now) for known, one in lacking)
            self._add(part, lines, no_room, now=now)

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        self.learn_all([NodePoints(node, points)], now)

    def _lines(self, one: NodePoints, *, now: float) -> _NodeLines:
        owners = self.owners.of(one.node, one.points, now=now)
        known = self._nodes.pop(one.node, None)
        if known is None or known.owners is not owners or known.moves != self.book.moves:
            known = _NodeLines(owners, self.book.moves)
        self._nodes[one.node] = known
        if len(self._nodes) > self.owners.most_nodes:
            del self._nodes[next(iter(self._nodes))]
        return known

    def _add_singly(self, part: PointsTogether, *, now: float) -> None:
        """A line that one of them is given may have been another's."""
        for one in part.reported:
            known = self._lines(one, now=now)
            no_room = known.ask(self.book, one.points.of, now=now)
            self._add(PointsTogether([one]), [known], no_room, now=now)

    def _add(
        self, part: PointsTogether, nodes: Sequence[_NodeLines], no_room: int, *, now: float
    ) -> None:
        lines = part.by_series([one.lines for one in nodes])[part.series]
        counts = part.by_series([one.counts for one in nodes])[part.series]
        begin, end, cores = part.from_at, part.to_at, part.column("cpu_cores")
        with np.errstate(invalid="ignore", over="ignore"):
            lasted = end - begin
            sound = (
                (lasted > 0) & (lasted <= LONGEST_POINT_S) & (cores >= 0) & (cores <= MOST_CORES)
            )
        good = sound & (lines >= 0)
        if not good.all():
            lines, counts = lines[good], counts[good]
            begin, end, cores = begin[good], end[good], cores[good]
        late = self.book.add(lines.astype(np.intp), begin, end, cores, counts, now=now)
        meter = self.process.meter
        absurd = int(np.count_nonzero(~sound & ~np.isnan(part.column("cpu_cores"))))
        for reason, count in (("late", late), ("no_room", no_room), ("absurd", absurd)):
            if count:
                meter.count(names.SEASON_POINTS_DROPPED, count, reason=reason)
        meter.gauge(names.SEASON_WORKLOADS, len(self.book.numbers) - 1)
