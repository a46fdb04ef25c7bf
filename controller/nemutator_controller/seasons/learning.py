"""Adds what workloads used to their days, as soon as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from nemutator_common import names
from nemutator_common.process import Process

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
        for one in reported:
            self.learn(one.node, one.points, now)

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        owners = self.owners.of(node, points, now=now)
        known = self._nodes.pop(node, None)
        if known is None or known.owners is not owners or known.moves != self.book.moves:
            known = _NodeLines(owners, self.book.moves)
        self._nodes[node] = known
        if len(self._nodes) > self.owners.most_nodes:
            del self._nodes[next(iter(self._nodes))]
        no_room = known.ask(self.book, points.of, now=now)
        lines, counts = known.lines, known.counts
        of, begin, end = points.of, points.from_at, points.to_at
        cores = points.column("cpu_cores")
        with np.errstate(invalid="ignore", over="ignore"):
            lasted = end - begin
            sound = (
                (lasted > 0) & (lasted <= LONGEST_POINT_S) & (cores >= 0) & (cores <= MOST_CORES)
            )
        good = sound & (lines[of] >= 0)
        late = self.book.add(
            lines[of[good]].astype(np.intp),
            begin[good],
            end[good],
            cores[good],
            counts[of[good]],
            now=now,
        )
        meter = self.process.meter
        for reason, count in (
            ("late", late),
            ("no_room", no_room),
            ("absurd", int((~sound & ~np.isnan(cores)).sum())),
        ):
            if count:
                meter.count(names.SEASON_POINTS_DROPPED, count, reason=reason)
        meter.gauge(names.SEASON_WORKLOADS, len(self.book.numbers) - 1)
