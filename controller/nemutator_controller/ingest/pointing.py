"""Reports whose columns say by name what their points belong to.

The brain that takes a report knows its series by number, and may hand the points on to one that has never
heard of the node: then each report carries the names that it uses.
"""

from dataclasses import dataclass, replace

import numpy as np
from nemutator_common.wire import Batch, Envelope, Report

from nemutator_controller.ingest.columns import ColumnBatch, ReportedPoints
from nemutator_controller.ingest.ports import ReportStore
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.series_tables import SeriesTable, SeriesTables
from nemutator_controller.ingest.usage_points import UsagePoints


@dataclass(frozen=True, slots=True)
class PointedReport(Report):
    """A `Report` whose points are columns, and not summaries."""

    points: UsagePoints | None = None


@dataclass(frozen=True, slots=True)
class PointedReports:
    """A `ReportStore` around another one, which gets a `PointedReport` for each report of columns."""

    inner: ReportStore
    tables: SeriesTables

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.inner.stored_up_to(node, epoch)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        if isinstance(batch, ColumnBatch):
            batch = pointed(batch, self.tables)
        return await self.inner.store(batch, now=now)


def pointed(batch: ColumnBatch, tables: SeriesTables) -> ColumnBatch:
    """*batch* with the points in its reports; raises `UnknownSeriesError`."""
    envelopes, opened = [], set[SeriesTable]()
    for envelope in batch.envelopes:
        found = batch.points[envelope.seq]
        points = None
        if len(found.of):
            table = tables.table(batch.node, batch.epoch, found.naming)
            points = _named(found, table)
            opened.add(table)
        report = envelope.report
        fields = {name: getattr(report, name) for name in Report.__dataclass_fields__}
        envelopes.append(Envelope(envelope.seq, PointedReport(**fields, points=points)))
    for table in opened:
        table.close()
    return replace(batch, envelopes=tuple(envelopes))


def _named(found: ReportedPoints, table: SeriesTable) -> UsagePoints:
    numbers, of = np.unique(found.of, return_inverse=True)
    return UsagePoints(
        series=[table[number] for number in numbers.tolist()],
        of=of.astype(np.int32),
        from_at=found.from_at,
        to_at=found.to_at,
        columns=found.columns,
    )
