"""Cursors in the database, and whatever else has to be stored together with them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common.wire import Batch, Envelope, StreamBatch
from sqlalchemy import ColumnElement, Connection, Table, delete, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import cursors, stream_cursors
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.progress import Stored, new_records, new_reports

KEPT_EPOCHS = 8
"""Cursors that are kept of a writer, one for each life of its process: older ones have nothing left to
send."""

Record = Callable[[Connection, str, Sequence[Envelope]], None]
"""Writes what it makes of a node's new reports, in the transaction that acknowledges them."""

StreamHandler = Callable[[Connection, str, Sequence[dict[str, object]]], None]
"""Writes a writer's new records in the transaction that acknowledges them.

A ValueError, an OverflowError or one of msgspec says that a record is wrong: then none of the batch is stored.
"""

KEPT_WRITERS_S = 30 * 86_400.0
"""Cursors of writers that have sent nothing for so long are removed: nodes and pods come and go."""


@dataclass(frozen=True, slots=True)
class SqlReports:
    """A `ReportStore` whose cursor and *record* are one transaction: both are stored, or none."""

    database: Database
    record: Record

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.database.read(_Cursor(cursors, {"node": node}, epoch).read)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        cursor = _Cursor(cursors, {"node": batch.node}, batch.epoch)

        def job(connection: Connection) -> Stored[Envelope]:
            stored = new_reports(batch, before=cursor.read(connection))
            if stored.fresh:
                cursor.move(connection, seq=stored.seq, now=now)
                self.record(connection, batch.node, stored.fresh)
            return stored

        return await self.database.write(job)


@dataclass(frozen=True, slots=True)
class SqlStreams:
    """A `StreamStore`."""

    database: Database
    handlers: Mapping[str, StreamHandler]
    """By stream."""

    async def stored_up_to(self, stream: str, writer: str, epoch: str) -> int:
        return await self.database.read(_stream_cursor(stream, writer, epoch).read)

    async def store(
        self, stream: str, batch: StreamBatch, *, now: float
    ) -> Stored[dict[str, object]]:
        cursor = _stream_cursor(stream, batch.writer, batch.epoch)

        def job(connection: Connection) -> Stored[dict[str, object]]:
            stored = new_records(batch, before=cursor.read(connection))
            if stored.fresh:
                self.handlers[stream](connection, batch.writer, stored.fresh)
                cursor.move(connection, seq=stored.seq, now=now)
            return stored

        try:
            return await self.database.write(job)
        except (ValueError, OverflowError, msgspec.MsgspecError) as error:
            raise RefusedBatchError("malformed", f"a record is wrong: {error}"[:300]) from error


@dataclass(frozen=True, slots=True)
class _Cursor:
    """How far one epoch of a writer is stored."""

    table: Table
    writer: Mapping[str, str]
    """What names the writer, by column."""
    epoch: str

    def read(self, connection: Connection) -> int:
        """The number in its `Ack`; 0 when nothing is stored."""
        seq = connection.scalar(select(self.table.c.seq).where(*self._writers, self._epochs))
        return seq or 0

    def move(self, connection: Connection, *, seq: int, now: float) -> None:
        moved = connection.execute(
            update(self.table).where(*self._writers, self._epochs).values(seq=seq, touched_at=now)
        )
        if not moved.rowcount:
            self._begin(connection, seq=seq, now=now)

    def _begin(self, connection: Connection, *, seq: int, now: float) -> None:
        columns = self.table.c
        first = insert(self.table).values(**self.writer, epoch=self.epoch, seq=seq, touched_at=now)
        newest = (
            select(columns.epoch)
            .where(*self._writers)
            .order_by(columns.touched_at.desc())
            .limit(KEPT_EPOCHS)
        )
        connection.execute(first)
        connection.execute(delete(self.table).where(*self._writers, columns.epoch.not_in(newest)))
        connection.execute(delete(self.table).where(columns.touched_at < now - KEPT_WRITERS_S))

    @property
    def _writers(self) -> list[ColumnElement[bool]]:
        return [self.table.c[column] == value for column, value in self.writer.items()]

    @property
    def _epochs(self) -> ColumnElement[bool]:
        return self.table.c.epoch == self.epoch


def _stream_cursor(stream: str, writer: str, epoch: str) -> _Cursor:
    return _Cursor(stream_cursors, {"stream": stream, "writer": writer}, epoch)
