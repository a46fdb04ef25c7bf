"""Adds what workloads used to their days, as soon as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints
from nemutator_controller.seasons.day_book import DayBook, Scope

LONGEST_POINT_S = 120.0
MOST_CORES = 100_000.0

OwnedScope = tuple[Scope, bool]
"""A workload, and whether its use counts in the sum of all."""


@dataclass(frozen=True, slots=True)
class SeasonLearner:
    """A `UsageConsumer`."""

    book: DayBook
    owners: SeriesOwners[OwnedScope]
    process: Process

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        for one in reported:
            self.learn(one.node, one.points, now)

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        owners = self.owners.of(node, points, now=now)
        lines = np.full(len(owners), -1, dtype=np.intp)
        counts = np.zeros(len(owners), dtype=np.bool_)
        no_room = 0
        for number in np.unique(points.of).tolist():
            owner = owners[number]
            if owner is None:
                continue
            line = self.book.line_of(owner[0], now=now)
            if line is None:
                no_room += 1
                continue
            lines[number], counts[number] = line, owner[1]
        of, begin, end = points.of, points.from_at, points.to_at
        cores = points.column("cpu_cores")
        with np.errstate(invalid="ignore", over="ignore"):
            lasted = end - begin
            sound = (
                (lasted > 0) & (lasted <= LONGEST_POINT_S) & (cores >= 0) & (cores <= MOST_CORES)
            )
        good = sound & (lines[of] >= 0)
        late = self.book.add(
            lines[of[good]], begin[good], end[good], cores[good], counts[of[good]], now=now
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
