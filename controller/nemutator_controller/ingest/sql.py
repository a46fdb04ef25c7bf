"""Cursors in the database, and whatever else has to be stored together with them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common.wire import Batch, Envelope, StreamBatch
from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, insert, select, update

from nemutator_controller.database.access import JOB_S, Database
from nemutator_controller.database.schema import cursors, stream_cursors
from nemutator_controller.ingest.batches import RefusedBatchError
from nemutator_controller.ingest.progress import Stored, new_records, new_reports

KEPT_EPOCHS = 8
"""Cursors that are kept of a writer, one for each life of its process: older ones have nothing left to
send."""

Record = Callable[[Connection, Sequence[tuple[str, Envelope]]], None]
"""Writes what it makes of new reports of nodes, in the transaction that acknowledges them."""

StreamHandler = Callable[[Connection, str, Sequence[dict[str, object]]], None]
"""Writes a writer's new records in the transaction that acknowledges them.

A ValueError, an OverflowError or one of msgspec says that a record is wrong: then none of the batch is stored.
"""

Late = Callable[[Sequence[Stored[Envelope]]], None]
"""Hears what was stored of batches after all, when nobody waits for it any more."""

KEPT_WRITERS_S = 30 * 86_400.0
"""Cursors of writers that have sent nothing for so long are removed: nodes and pods come and go."""


@dataclass(frozen=True, slots=True)
class SqlReports:
    """A `ReportStore`, and a `GroupStore`, whose cursors and *record* are one transaction: all of it is
    stored, or nothing."""

    database: Database
    record: Record
    deadline_s: float = JOB_S

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.database.read(_Cursor(cursors, {"node": node}, epoch).read)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        [stored] = await self.store_all([batch], now=now)
        return stored

    async def store_all(
        self, batches: Sequence[Batch], *, now: float, late: Late | None = None
    ) -> Sequence[Stored[Envelope]]:
        def job(connection: Connection) -> Sequence[Stored[Envelope]]:
            rows = connection.execute(_WANTED, {"nodes": list({batch.node for batch in batches})})
            known = {(node, epoch): seq for node, epoch, seq in rows}
            reached = dict[tuple[str, str], int]()
            done, fresh = [], list[tuple[str, Envelope]]()
            for batch in batches:
                place = batch.node, batch.epoch
                # The same node may be twice in a group.
                before = reached.get(place, known.get(place, 0))
                stored = new_reports(batch, before=before)
                if stored.fresh:
                    reached[place] = stored.seq
                    fresh += ((batch.node, envelope) for envelope in stored.fresh)
                done.append(stored)
            places = [(*place, seq) for place, seq in reached.items()]
            _move(connection, [place for place in places if place[:2] in known], now)
            begun = [place for place in places if place[:2] not in known]
            _begin(connection, begun, Counter(node for node, _ in known), now)
            if fresh:
                self.record(connection, fresh)
            return done

        return await self.database.write(job, deadline_s=self.deadline_s, late=late)


# Made once: to put a statement together takes as long as to execute it.
_WANTED = select(cursors.c.node, cursors.c.epoch, cursors.c.seq).where(
    cursors.c.node.in_(bindparam("nodes", expanding=True))
)
_MOVED = (
    update(cursors)
    .where(cursors.c.node == bindparam("of"), cursors.c.epoch == bindparam("in"))
    .values(seq=bindparam("to"), touched_at=bindparam("at"))
)
_BEGUN = insert(cursors)

_Reached = tuple[str, str, int]
"""A node, its epoch, and the number up to which that is stored now."""


def _move(connection: Connection, places: Sequence[_Reached], now: float) -> None:
    if places:
        moved = [{"of": node, "in": epoch, "to": seq, "at": now} for node, epoch, seq in places]
        connection.execute(_MOVED, moved)


def _begin(
    connection: Connection, places: Sequence[_Reached], epochs: Counter[str], now: float
) -> None:
    """Begin cursors at *places*, whose nodes have so many *epochs* already. After an outage all nodes of a group are new."""
    if not places:
        return
    several = epochs + Counter(node for node, _, _ in places)
    plain = [place for place in places if several[place[0]] <= KEPT_EPOCHS]
    if plain:
        begun = [
            {"node": node, "epoch": epoch, "seq": seq, "touched_at": now}
            for node, epoch, seq in plain
        ]
        connection.execute(_BEGUN, begun)
        _forget_silent(connection, cursors, now=now)
    for node, epoch, seq in places:
        if several[node] > KEPT_EPOCHS:
            _Cursor(cursors, {"node": node}, epoch).begin(connection, seq=seq, now=now)


def _forget_silent(connection: Connection, table: Table, *, now: float) -> None:
    connection.execute(delete(table).where(table.c.touched_at < now - KEPT_WRITERS_S))


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
            self.begin(connection, seq=seq, now=now)

    def begin(self, connection: Connection, *, seq: int, now: float) -> None:
        columns = self.table.c
        first = insert(self.table).values(**self.writer, epoch=self.epoch, seq=seq, touched_at=now)
        newest = (
            select(columns.epoch)
            .where(*self._writers)
            .order_by(columns.touched_at.desc())
            .limit(KEPT_EPOCHS)
        )
        connection.execute(first)
        # Others may seem newer, where the clock was set back since.
        old = columns.epoch.not_in(newest), columns.epoch != self.epoch
        connection.execute(delete(self.table).where(*self._writers, *old))
        _forget_silent(connection, self.table, now=now)

    @property
    def _writers(self) -> list[ColumnElement[bool]]:
        return [self.table.c[column] == value for column, value in self.writer.items()]

    @property
    def _epochs(self) -> ColumnElement[bool]:
        return self.table.c.epoch == self.epoch


def _stream_cursor(stream: str, writer: str, epoch: str) -> _Cursor:
    return _Cursor(stream_cursors, {"stream": stream, "writer": writer}, epoch)
