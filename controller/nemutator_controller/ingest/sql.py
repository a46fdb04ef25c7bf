"""Cursors in the database, and whatever else has to be stored together with them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec
from nemutator_common.wire import Batch, Envelope, StreamBatch
from sqlalchemy import Connection, delete, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import cursors, stream_cursors
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.progress import Stored, fresh_of
from nemutator_controller.ingest.records import StoredRecords, fresh_records

KEPT_EPOCHS = 8
"""Cursors that are kept of a node, one for each life of its agent: older ones have nothing left to send."""

Record = Callable[[Connection, str, Sequence[Envelope]], None]
"""Writes what it makes of a node's new reports, in the transaction that acknowledges them."""

StreamHandler = Callable[[Connection, str, Sequence[dict[str, object]]], None]
"""Writes a writer's new records in the transaction that acknowledges them.

A ValueError, an OverflowError or one of msgspec says that a record is wrong: then none of the batch is stored.
"""

KEPT_WRITERS_S = 30 * 86_400.0
"""Cursors of writers that said nothing for so long go: pods of admission come and go."""


class SqlReports:
    """A `ReportStore` whose cursor and *record* are one transaction: both are stored, or none."""

    def __init__(self, database: Database, record: Record) -> None:
        self._database = database
        self._record = record

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self._database.read(partial(_stored_up_to, node=node, epoch=epoch))

    async def store(self, batch: Batch, *, now: float) -> Stored:
        def job(connection: Connection) -> Stored:
            before = _stored_up_to(connection, node=batch.node, epoch=batch.epoch)
            stored = Stored(before, fresh_of(batch.envelopes, after=before))
            if stored.fresh:
                move = _advance if before else _begin
                move(connection, batch, seq=stored.seq, now=now)
                self._record(connection, batch.node, stored.fresh)
            return stored

        return await self._database.write(job)


def _stored_up_to(connection: Connection, *, node: str, epoch: str) -> int:
    row = connection.scalar(
        select(cursors.c.seq).where(cursors.c.node == node, cursors.c.epoch == epoch)
    )
    return row or 0


def _begin(connection: Connection, batch: Batch, *, seq: int, now: float) -> None:
    connection.execute(
        insert(cursors).values(node=batch.node, epoch=batch.epoch, seq=seq, touched_at=now)
    )
    kept = (
        select(cursors.c.epoch)
        .where(cursors.c.node == batch.node)
        .order_by(cursors.c.touched_at.desc())
        .limit(KEPT_EPOCHS)
    )
    connection.execute(
        delete(cursors).where(cursors.c.node == batch.node, cursors.c.epoch.not_in(kept))
    )


def _advance(connection: Connection, batch: Batch, *, seq: int, now: float) -> None:
    connection.execute(
        update(cursors)
        .where(cursors.c.node == batch.node, cursors.c.epoch == batch.epoch)
        .values(seq=seq, touched_at=now)
    )


class SqlStreams:
    """A `StreamStore`; *handlers* by stream."""

    def __init__(self, database: Database, handlers: Mapping[str, StreamHandler]) -> None:
        self._database = database
        self._handlers = handlers

    async def stored_up_to(self, stream: str, writer: str, epoch: str) -> int:
        return await self._database.read(
            partial(_records_up_to, stream=stream, writer=writer, epoch=epoch)
        )

    async def store(self, stream: str, batch: StreamBatch, *, now: float) -> StoredRecords:
        handle = self._handlers[stream]

        def job(connection: Connection) -> StoredRecords:
            before = _records_up_to(
                connection, stream=stream, writer=batch.writer, epoch=batch.epoch
            )
            fresh = fresh_records(batch, after=before)
            if not fresh:
                return StoredRecords(before, before, 0)
            seq = batch.first + len(batch.records) - 1
            handle(connection, batch.writer, fresh)
            _move(connection, stream, batch, seq=seq, now=now, begins=not before)
            return StoredRecords(before, seq, len(fresh))

        try:
            return await self._database.write(job)
        except (ValueError, OverflowError, msgspec.MsgspecError) as error:
            raise RefusedBatchError("malformed", f"a record is wrong: {error}"[:300]) from error


def _records_up_to(connection: Connection, *, stream: str, writer: str, epoch: str) -> int:
    row = connection.scalar(
        select(stream_cursors.c.seq).where(
            stream_cursors.c.stream == stream,
            stream_cursors.c.writer == writer,
            stream_cursors.c.epoch == epoch,
        )
    )
    return row or 0


def _move(
    connection: Connection,
    stream: str,
    batch: StreamBatch,
    *,
    seq: int,
    now: float,
    begins: bool,
) -> None:
    own = (stream_cursors.c.stream == stream, stream_cursors.c.writer == batch.writer)
    if not begins:
        connection.execute(
            update(stream_cursors)
            .where(*own, stream_cursors.c.epoch == batch.epoch)
            .values(seq=seq, touched_at=now)
        )
        return
    connection.execute(
        insert(stream_cursors).values(
            stream=stream, writer=batch.writer, epoch=batch.epoch, seq=seq, touched_at=now
        )
    )
    kept = (
        select(stream_cursors.c.epoch)
        .where(*own)
        .order_by(stream_cursors.c.touched_at.desc())
        .limit(KEPT_EPOCHS)
    )
    connection.execute(delete(stream_cursors).where(*own, stream_cursors.c.epoch.not_in(kept)))
    connection.execute(
        delete(stream_cursors).where(stream_cursors.c.touched_at < now - KEPT_WRITERS_S)
    )
