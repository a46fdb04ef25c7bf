"""Who learns from usage: behind the store, so that a report that comes twice counts once."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Batch, Envelope

from nemutator_controller.ingest.columns import ColumnBatch, ReportedPoints
from nemutator_controller.ingest.ports import ReportStore, UsageConsumer
from nemutator_controller.ingest.progress import Stored
from nemutator_controller.ingest.series_tables import (
    SeriesTable,
    SeriesTables,
    UnknownSeriesError,
)
from nemutator_controller.ingest.usage_points import (
    MOST_SERIES,
    NamedSeries,
    NodePoints,
    UsagePoints,
    joined,
    points_of,
)

MOST_POINTS = 20_000
"""In one turn of the loop: some 80 reports, and some 20 ms."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    node: str
    points: UsagePoints
    table: SeriesTable | None = None


@dataclass(slots=True)
class _Turn:
    """What is learned at once."""

    waiting: list[_Waiting] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None

    @property
    def has_room(self) -> bool:
        return sum(len(one.points) for one in self.waiting) < MOST_POINTS


@dataclass(frozen=True, slots=True)
class ConsumedReports:
    """A `ReportStore` around another one, which hands on what was new to that one.

    A batch whose write had an unknown outcome is sent again, and is not new then: its points, usually
    of a quarter of a minute, are missing. That is better than counting them twice.
    """

    inner: ReportStore
    consumers: Sequence[UsageConsumer]
    tables: SeriesTables
    process: Process
    most_nodes: int
    _named: dict[str, tuple[str, NamedSeries]] = field(default_factory=dict, init=False)
    """The epoch and the series of each node, the last heard of at the end."""
    _turns: deque[_Turn] = field(default_factory=deque, init=False)

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.inner.stored_up_to(node, epoch)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        stored = await self.inner.store(batch, now=now)
        if isinstance(batch, ColumnBatch):
            waiting = list(self._of_columns(batch, stored.fresh))
        elif any(envelope.report.summaries for envelope in stored.fresh):
            points = points_of(self._series(batch.node, batch.epoch), stored.fresh)
            waiting = [_Waiting(batch.node, points)]
        else:
            waiting = []
        if waiting:
            await self._learned_together(waiting)
        return stored

    def _of_columns(self, batch: ColumnBatch, fresh: Iterable[Envelope]) -> Iterator[_Waiting]:
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
            yield _Waiting(batch.node, joined(table, reported), table)

    async def _learned_together(self, waiting: Sequence[_Waiting]) -> None:
        """Have *waiting* learned, together with what others of the same group bring before the loop's next turn."""
        turn = self._turns[-1] if self._turns and self._turns[-1].has_room else None
        if turn is None:
            turn = _Turn()
            self._turns.append(turn)
            asyncio.get_running_loop().call_soon(self._take_turn)
        turn.waiting += waiting
        await turn.ended.wait()
        if turn.failure is not None:
            raise turn.failure

    def _take_turn(self) -> None:
        turn = self._turns.popleft()
        now = self.process.clock.now()
        reported = [NodePoints(one.node, one.points) for one in turn.waiting]
        try:
            for consumer in self.consumers:
                consumer.learn_all(reported, now)
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            turn.failure = error
        for one in turn.waiting:
            if one.table is not None:
                one.table.close()
        turn.ended.set()

    def _series(self, node: str, epoch: str) -> NamedSeries:
        known, series = self._named.pop(node, ("", NamedSeries()))
        if known != epoch or len(series) > MOST_SERIES:
            series = NamedSeries()
        self._named[node] = epoch, series
        if len(self._named) > self.most_nodes:
            del self._named[next(iter(self._named))]
        return series
