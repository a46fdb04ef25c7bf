"""Who learns from usage: behind the store, so that a report that comes twice counts once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Batch, Envelope

from nemutator_controller.ingest.columns import ColumnBatch, ReportedPoints
from nemutator_controller.ingest.learning import LearningTurns, Unlearned
from nemutator_controller.ingest.ports import ReportStore
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.series_tables import (
    SeriesTables,
    UnknownSeriesError,
)
from nemutator_controller.ingest.usage_points import (
    MOST_SERIES,
    NamedSeries,
    joined,
    points_of,
)


@dataclass(frozen=True, slots=True)
class ConsumedReports:
    """A `ReportStore` around another one, which hands on what was new to that one.

    A batch whose write had an unknown outcome is sent again, and is not new then: its points, usually
    of a quarter of a minute, are missing. That is better than counting them twice.
    """

    inner: ReportStore
    turns: LearningTurns
    tables: SeriesTables
    process: Process
    most_nodes: int
    _named: dict[str, tuple[str, NamedSeries]] = field(default_factory=dict, init=False)
    """The epoch and the series of each node, the last heard of at the end."""

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.inner.stored_up_to(node, epoch)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        stored = await self.inner.store(batch, now=now)
        if isinstance(batch, ColumnBatch):
            waiting = list(self._of_columns(batch, stored.fresh))
        elif any(envelope.report.summaries for envelope in stored.fresh):
            points = points_of(self._series(batch.node, batch.epoch), stored.fresh)
            waiting = [Unlearned(batch.node, points)]
        else:
            waiting = []
        if waiting:
            await self.turns.learn(waiting)
        return stored

    def _of_columns(self, batch: ColumnBatch, fresh: Iterable[Envelope]) -> Iterator[Unlearned]:
        by_naming: dict[int, list[ReportedPoints]] = {}
        for envelope in fresh:
            points = batch.points[envelope.seq]
            if len(points.of):
                by_naming.setdefault(points.naming, []).append(points)
        for naming, reported in by_naming.items():
            try:
                table = self.tables.table(batch.node, batch.epoch, naming)
            except UnknownSeriesError:
                # Another batch of the node has pushed it out while this one was stored.
                count = sum(len(points.of) for points in reported)
                self.process.meter.count(names.SUMMARIES_DROPPED, count, reason="unknown_series")
                continue
            yield Unlearned(batch.node, joined(table, reported), table)

    def _series(self, node: str, epoch: str) -> NamedSeries:
        known, series = self._named.pop(node, ("", NamedSeries()))
        if known != epoch or len(series) > MOST_SERIES:
            series = NamedSeries()
        self._named[node] = epoch, series
        if len(self._named) > self.most_nodes:
            del self._named[next(iter(self._named))]
        return series
