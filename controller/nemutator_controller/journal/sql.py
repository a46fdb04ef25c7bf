"""The journal in the database."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.meters import Meter
from sqlalchemy import Connection, Select, delete, func, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import decisions, reversals, tombstones
from nemutator_controller.journal.decision_stamps import known_from
from nemutator_controller.journal.records import (
    EVERYTHING,
    DecisionError,
    JournalEntry,
    KeptTombstone,
    Known,
    Narrowing,
    PodStamp,
    Reversal,
    State,
    decode,
)
from nemutator_controller.mutations.decisions import Decision

log = logging.getLogger(__name__)

Handler = Callable[[Connection, str, Sequence[Mapping[str, object]]], None]

MOST_TOMBSTONES = 10_000
STEP = 500
"""Decisions that are read at once."""
KEPT_REVERSALS = 20
"""The last tries to take one decision back."""

_DECISION = msgspec.json.Decoder(Decision)
_REVERSAL = msgspec.json.Decoder(Reversal)


@dataclass(frozen=True, slots=True)
class SqlJournal:
    """A `JournalStore`."""

    database: Database

    async def add(self, decisions: Sequence[Decision], *, writer: str, state: State) -> None:
        await self.database.write(partial(_add, new=decisions, writer=writer, state=state))

    async def entry(self, decision: str) -> JournalEntry | None:
        query = _ENTRY.where(decisions.c.id == decision)
        return next(iter(await self.database.read(partial(_entries, query=query))), None)

    async def entries(
        self, *, namespace: str | None, name: str | None, limit: int, only: Narrowing = EVERYTHING
    ) -> Sequence[JournalEntry]:
        query = _ENTRY.order_by(decisions.c.at.desc(), decisions.c.id)
        if namespace is not None:
            query = query.where(decisions.c.namespace == namespace)
        if name is not None:
            query = query.where(decisions.c.name == name)
        if only == EVERYTHING:
            return await self.database.read(partial(_entries, query=query.limit(limit)))
        query = query.where(decisions.c.at >= only.since, decisions.c.at < only.until)
        if only.standing:
            query = query.where(decisions.c.state != "reversed")
        return await self.database.read(
            lambda connection: list(islice(filter(only.takes, _found(connection, query)), limit))
        )

    async def seen(self, decision: str, *, name: str, uid: str) -> bool:
        return await self.database.write(partial(_seen, decision=decision, name=name, uid=uid))

    async def note(self, stamps: Sequence[PodStamp]) -> Sequence[Known]:
        return await self.database.write(partial(_note, stamps=stamps))

    async def close(self, reversal: Reversal) -> None:
        await self.database.write(partial(_close, reversal=reversal))

    async def reversals(self, decision: str) -> Sequence[Reversal]:
        query = (
            select(reversals.c.document)
            .where(reversals.c.decision == decision)
            .order_by(reversals.c.at.desc(), reversals.c.id)
        )

        def job(connection: Connection) -> list[Reversal]:
            return [_REVERSAL.decode(document) for (document,) in connection.execute(query)]

        return await self.database.read(job)

    async def add_tombstones(self, new: Sequence[KeptTombstone]) -> bool:
        return await self.database.write(partial(_add_tombstones, new=new))

    async def tombstones(self) -> Sequence[KeptTombstone]:
        return await self.database.read(_tombstones)

    async def forget(self, gone: Sequence[Tombstone]) -> int:
        return await self.database.write(partial(_forget, gone=gone))

    async def drop_before(self, moment: float, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=moment, most=most))

    async def drop_oldest(self, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=None, most=most))

    async def count(self) -> int:
        return await self.database.read(_count)


def recorder(meter: Meter) -> Handler:
    """Stores the records of the stream "decisions", in the transaction that moves its cursor.

    A record that is not a decision is counted and left out, because refusing it would stop the stream.
    """

    def record_decisions(
        connection: Connection, writer: str, records: Sequence[Mapping[str, object]]
    ) -> None:
        good: list[Decision] = []
        for record in records:
            try:
                good.append(decode(record))
            except DecisionError as error:
                meter.count(names.DECISIONS_DROPPED, reason="malformed")
                log.warning("decision_not_understood", {names.PEER: writer, names.ERROR: error})
        _add(connection, new=good, writer=writer, state="answered")

    return record_decisions


_ENTRY = select(decisions.c.document, decisions.c.state, decisions.c.writer)


def _entries(connection: Connection, *, query: Select[Any]) -> list[JournalEntry]:
    return list(_found(connection, query))


def _found(connection: Connection, query: Select[Any]) -> Iterator[JournalEntry]:
    for row in connection.execute(query.execution_options(yield_per=STEP)):
        yield JournalEntry(
            decision=_DECISION.decode(row.document), state=row.state, writer=row.writer
        )


def _add(connection: Connection, *, new: Sequence[Decision], writer: str, state: State) -> None:
    # When two decisions of a batch have the same id, the first one counts.
    fresh = {decision.id: decision for decision in reversed(new)}
    for known in connection.scalars(select(decisions.c.id).where(decisions.c.id.in_(fresh))):
        del fresh[known]
    if fresh:
        connection.execute(
            insert(decisions),
            [
                {
                    "id": one.id,
                    "at": one.at,
                    "writer": writer,
                    "namespace": one.subject.namespace,
                    "kind": one.subject.kind,
                    "name": one.subject.name or one.subject.generate_name,
                    "state": state,
                    "document": msgspec.json.encode(one),
                    "caller": one.caller,
                }
                for one in fresh.values()
            ],
        )


def _seen(connection: Connection, *, decision: str, name: str, uid: str) -> bool:
    row = connection.execute(_ENTRY.where(decisions.c.id == decision)).one_or_none()
    if row is None or row.state != "answered":
        return False
    known = _DECISION.decode(row.document)
    subject = replace(known.subject, name=name, uid=uid)
    connection.execute(
        update(decisions)
        .where(decisions.c.id == decision)
        .values(
            name=name,
            state="observed",
            document=msgspec.json.encode(replace(known, subject=subject)),
        )
    )
    return True


def _note(connection: Connection, *, stamps: Sequence[PodStamp]) -> list[Known]:
    wanted = {stamp.decision for stamp in stamps}
    found = _entries(connection, query=_ENTRY.where(decisions.c.id.in_(wanted)))
    kept = {entry.decision.id: entry for entry in found}
    made: list[Known] = []
    for stamp in stamps:
        entry = kept.get(stamp.decision)
        made.append(known_from(stamp, entry))
        if entry is not None and made[-1] == "observed":
            kept[stamp.decision] = replace(entry, state="observed")
            pod = stamp.subject
            _seen(connection, decision=stamp.decision, name=pod.name, uid=pod.uid)
    return made


def _close(connection: Connection, *, reversal: Reversal) -> None:
    # Without its decision a reversal would never be removed.
    known = connection.scalar(select(decisions.c.id).where(decisions.c.id == reversal.decision))
    if known is None:
        return
    if connection.scalar(select(reversals.c.id).where(reversals.c.id == reversal.id)) is not None:
        return
    connection.execute(
        insert(reversals).values(
            id=reversal.id,
            decision=reversal.decision,
            at=reversal.at,
            document=msgspec.json.encode(reversal),
        )
    )
    kept = (
        select(reversals.c.id)
        .where(reversals.c.decision == reversal.decision)
        .order_by(reversals.c.at.desc(), reversals.c.id)
        .limit(KEPT_REVERSALS)
    )
    connection.execute(
        delete(reversals).where(
            reversals.c.decision == reversal.decision, reversals.c.id.not_in(kept)
        )
    )
    connection.execute(
        update(decisions).where(decisions.c.id == reversal.decision).values(state=reversal.state)
    )


def _add_tombstones(connection: Connection, *, new: Sequence[KeptTombstone]) -> bool:
    fresh = {kept.tombstone: kept for kept in new}
    known = {kept.tombstone for kept in _tombstones(connection)}
    if len(known | fresh.keys()) > MOST_TOMBSTONES:
        return False
    _forget(connection, gone=list(known & fresh.keys()))
    if fresh:
        connection.execute(
            insert(tombstones),
            [
                {
                    "namespace": tombstone.namespace,
                    "owner_kind": tombstone.owner_kind,
                    "owner_name": tombstone.owner_name,
                    "path": tombstone.path,
                    "at": kept.at,
                    "decision": kept.decision,
                    "policy": kept.policy,
                    "revision": kept.revision,
                    "owner_uid": kept.owner_uid,
                }
                for tombstone, kept in fresh.items()
            ],
        )
    return True


def _tombstones(connection: Connection) -> list[KeptTombstone]:
    return [
        KeptTombstone(
            tombstone=Tombstone(row.namespace, row.owner_kind, row.owner_name, row.path),
            at=row.at,
            decision=row.decision,
            policy=row.policy,
            revision=row.revision,
            owner_uid=row.owner_uid,
        )
        for row in connection.execute(select(tombstones))
    ]


def _forget(connection: Connection, *, gone: Sequence[Tombstone]) -> int:
    columns = tombstones.c
    return sum(
        connection.execute(
            delete(tombstones).where(
                columns.namespace == one.namespace,
                columns.owner_kind == one.owner_kind,
                columns.owner_name == one.owner_name,
                columns.path == one.path,
            )
        ).rowcount
        for one in gone
    )


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(decisions)) or 0


def _drop(connection: Connection, *, before: float | None, most: int) -> int:
    columns = decisions.c
    query = select(columns.id).limit(most)
    if before is None:
        # Whoever forges reviews has made no object that was ever seen with our stamp.
        proven = select(columns.caller).where(columns.state != "answered")
        is_proven = (columns.caller == "") | columns.caller.in_(proven)
        oldest = query.order_by(columns.state != "answered", is_proven, columns.at, columns.id)
    else:
        oldest = query.where(columns.at < before).order_by(columns.at, columns.id)
    gone = list(connection.scalars(oldest))
    connection.execute(delete(reversals).where(reversals.c.decision.in_(gone)))
    connection.execute(delete(decisions).where(decisions.c.id.in_(gone)))
    return len(gone)
