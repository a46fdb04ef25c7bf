"""Cursors in the database, and whatever else has to be stored together with them."""

from collections.abc import Callable, Sequence
from functools import partial

from nemutator_common.wire import Batch, Envelope
from sqlalchemy import Connection, delete, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import cursors
from nemutator_controller.ingest.progress import Stored, fresh_of

KEPT_EPOCHS = 8
"""Cursors kept for a node: its agent's last lives. An older one has nothing left to send."""

Record = Callable[[Connection, str, Sequence[Envelope]], None]
"""Writes what it makes of a node's new reports, in the transaction that acknowledges them."""


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
