"""Takes batches: each is refused with a reason, or shown, stored and acknowledged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Ack, Batch, StreamBatch
from nemutator_common.wire_columns import COLUMNS_FORM

from nemutator_controller.access.callers import Caller, CallerKind
from nemutator_controller.ingest.batches import check
from nemutator_controller.ingest.columns import ColumnBatch, check_columns
from nemutator_controller.ingest.opening import OpeningTurns
from nemutator_controller.ingest.ports import NodesView, ReportStore, StreamStore
from nemutator_controller.ingest.records import check_records
from nemutator_controller.ingest.report_pace import ReportPace
from nemutator_controller.ingest.series_tables import SeriesTables, UnknownSeriesError


class ForbiddenNodeError(Exception):
    """The caller may not speak for this node."""


class TooManyNodesError(Exception):
    """There is no room for a further node."""


@dataclass(frozen=True, slots=True)
class Receiver:
    store: ReportStore
    view: NodesView
    pace: ReportPace
    tables: SeriesTables
    turns: OpeningTurns
    process: Process
    only_containers: bool = False
    """Nobody here learns from what else than containers of pods has used."""

    async def receive(self, open_body: Callable[[], Batch], caller: Caller) -> Ack:
        """Acknowledge the batch that *open_body* returns, once all of it is stored; sending it again changes nothing.

        What is shown does not wait for the disk: when that is full, the page stays current, only the
        history has a gap, and the agent keeps what was not acknowledged.
        """
        opened = self.turns.opened(lambda: self._shown(self.checked(open_body, caller)))
        return await self._stored(await opened)

    async def receive_checked(self, batch: Batch) -> Ack:
        """The same of a *batch* that `checked` has returned."""
        return await self._stored(await self.turns.opened(lambda: self._shown(batch)))

    def checked(self, open_body: Callable[[], Batch], caller: Caller) -> Batch:
        """The batch that *open_body* returns, unless it is refused. Safe in a thread."""
        batch = open_body()
        _admit(caller, batch.node)
        now = self.process.clock.now()
        if isinstance(batch, ColumnBatch):
            check_columns(batch, now=now)
        else:
            check(batch, now=now)
        return batch

    async def _stored(self, batch: Batch) -> Ack:
        stored = await self.store.store(batch, now=self.process.clock.now())
        self.process.meter.count(names.REPORTS_STORED, len(stored.fresh))
        self.process.meter.count(names.REPORTS_REPEATED, len(batch.envelopes) - len(stored.fresh))
        self.process.meter.count(names.REPORTS_LOST, stored.lost)
        return self._ack(batch.node, batch.epoch, stored.seq)

    def _shown(self, batch: Batch) -> Batch:
        """*batch*, once it is shown and named."""
        packed = batch.latest if isinstance(batch, ColumnBatch) else None
        last, now = batch.envelopes[-1], self.process.clock.now()
        if not self.view.see(batch.node, batch.epoch, last, now=now, packed=packed):
            raise TooManyNodesError
        if isinstance(batch, ColumnBatch):
            self._name(batch)
        return batch

    async def acknowledged(self, node: str, epoch: str, caller: Caller) -> Ack:
        """How far *epoch* is stored, for an agent that does not know what to send next."""
        _admit(caller, node)
        seq = await self.store.stored_up_to(node, epoch)
        return self._ack(node, epoch, seq)

    def _name(self, batch: ColumnBatch) -> None:
        """Take the names of series in, and see that all that points belong to have one."""
        self.tables.add(batch.node, batch.epoch, batch.names)
        for points in batch.points.values():
            if len(points.of):
                table = self.tables.table(batch.node, batch.epoch, points.naming)
                if points.of.max() >= len(table):
                    raise UnknownSeriesError

    def _ack(self, node: str, epoch: str, seq: int) -> Ack:
        naming, named = self.tables.named(node, epoch)
        return Ack(
            epoch,
            seq,
            self.pace.every_s(now=self.process.clock.now()),
            form=COLUMNS_FORM,
            naming=naming,
            named=named,
            only_containers=self.only_containers,
        )


@dataclass(frozen=True, slots=True)
class StreamReceiver:
    """Takes the records of other streams, each of which has one kind of writer."""

    store: StreamStore
    writers: Mapping[str, CallerKind]
    process: Process

    async def receive(self, stream: str, batch: StreamBatch, caller: Caller) -> Ack:
        """Acknowledge *batch* once all of it is stored; sending it again changes nothing."""
        if not caller.may_speak_as(self.writers[stream], batch.writer):
            raise ForbiddenNodeError
        check_records(batch)
        stored = await self.store.store(stream, batch, now=self.process.clock.now())
        repeated = len(batch.records) - len(stored.fresh)
        for result, count in (
            ("stored", len(stored.fresh)),
            ("repeated", repeated),
            ("lost", stored.lost),
        ):
            if count:
                self.process.meter.count(names.STREAM_RECORDS, count, stream=stream, result=result)
        return Ack(batch.epoch, stored.seq)

    async def acknowledged(self, stream: str, writer: str, epoch: str, caller: Caller) -> Ack:
        """The number up to which all records of *epoch* are stored."""
        if not caller.may_speak_as(self.writers[stream], writer):
            raise ForbiddenNodeError
        return Ack(epoch, await self.store.stored_up_to(stream, writer, epoch))


def _admit(caller: Caller, node: str) -> None:
    if not caller.may_speak_for(node):
        raise ForbiddenNodeError
