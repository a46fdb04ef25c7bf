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

    A batch whose write has not ended by its deadline is sent again, and may not be new then. So what the first sending stored
    after all is handed on to `stored_late`: the transaction itself says what was new to it, so that it is learned once, whoever waits.
    Only a process that ends before such a write leaves its points, usually of a quarter of a minute, unlearned.
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
        if waiting := self._unlearned(batch, stored):
            await self.turns.learn(waiting)
        return stored

    def stored_late(self, batch: Batch, stored: Stored[Envelope]) -> None:
        """Have what was new learned of a *batch* whose sender was told that it is unknown."""
        if waiting := self._unlearned(batch, stored):
            self.turns.learn_late(waiting)

    def _unlearned(self, batch: Batch, stored: Stored[Envelope]) -> list[Unlearned]:
        if isinstance(batch, ColumnBatch):
            return list(self._of_columns(batch, stored.fresh))
        if any(envelope.report.summaries for envelope in stored.fresh):
            points = points_of(self._series(batch.node, batch.epoch), stored.fresh)
            return [Unlearned(batch.node, points)]
        return []

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
