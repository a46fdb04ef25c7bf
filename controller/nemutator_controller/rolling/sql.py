"""Rolls in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, func, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import rolls
from nemutator_controller.rolling.records import OPEN_ROLLS, Roll

_ROLL = msgspec.json.Decoder(Roll)


@dataclass(frozen=True, slots=True)
class SqlRolls:
    """A `RollStore`."""

    database: Database

    async def save(self, roll: Roll) -> None:
        await self.database.write(partial(_save, roll=roll))

    async def unfinished(self) -> Sequence[Roll]:
        query = _DOCUMENT.where(rolls.c.state.in_(OPEN_ROLLS)).order_by(rolls.c.at, rolls.c.id)
        return await self.database.read(partial(_rolls, query=query))

    async def rolls(self, *, namespace: str | None, limit: int) -> Sequence[Roll]:
        query = _DOCUMENT.order_by(rolls.c.at.desc(), rolls.c.id).limit(limit)
        if namespace is not None:
            query = query.where(rolls.c.namespace == namespace)
        return await self.database.read(partial(_rolls, query=query))

    async def roll(self, id_: str) -> Roll | None:
        query = _DOCUMENT.where(rolls.c.id == id_)
        return next(iter(await self.database.read(partial(_rolls, query=query))), None)

    async def drop_before(self, moment: float, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=moment, most=most))

    async def drop_oldest(self, *, most: int) -> int:
        return await self.database.write(partial(_drop, before=None, most=most))

    async def count(self) -> int:
        return await self.database.read(_count)


_DOCUMENT = select(rolls.c.document)


def _rolls(connection: Connection, *, query: Select[Any]) -> list[Roll]:
    return [_ROLL.decode(document) for document in connection.scalars(query)]


def _save(connection: Connection, *, roll: Roll) -> None:
    row: dict[str, Any] = {"state": roll.state, "document": msgspec.json.encode(roll)}
    changed = connection.execute(update(rolls).where(rolls.c.id == roll.id).values(**row))
    if not changed.rowcount:
        row |= {"id": roll.id, "at": roll.at, "namespace": roll.workload.namespace}
        connection.execute(insert(rolls).values(**row))


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(rolls)) or 0


def _drop(connection: Connection, *, before: float | None, most: int) -> int:
    oldest = (
        select(rolls.c.id)
        .where(rolls.c.state.not_in(OPEN_ROLLS))
        .order_by(rolls.c.at, rolls.c.id)
        .limit(most)
    )
    if before is not None:
        oldest = oldest.where(rolls.c.at < before)
    gone = list(connection.scalars(oldest))
    connection.execute(delete(rolls).where(rolls.c.id.in_(gone)))
    return len(gone)
