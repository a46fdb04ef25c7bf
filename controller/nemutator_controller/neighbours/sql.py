"""Weeks of grades, in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, tuple_

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import neighbour_weeks
from nemutator_controller.neighbours.model import NeighbourRole, NeighbourWorkload
from nemutator_controller.neighbours.resources import GRADES
from nemutator_controller.neighbours.week_grades import DAYS, SavedWeek

STEP = 500
"""Rows in one transaction: reports must not wait long behind it."""

POD = ""
"""The kind of a row that is of a pod; its name is the uid."""

_KIND = np.dtype("<u2")
_ROLES = frozenset(NeighbourRole)


@dataclass(frozen=True, slots=True)
class SqlNeighbourWeeks:
    """A `WeekStore`."""

    database: Database

    async def load(self) -> Sequence[SavedWeek]:
        return await self.database.read(_load)

    async def replace(self, weeks: Sequence[SavedWeek]) -> None:
        # What was there goes last: who is interrupted has left some of it twice as old, and lost none.
        round_ = await self.database.read(_next_round)
        for begin in range(0, len(weeks), STEP):
            some = weeks[begin : begin + STEP]
            await self.database.write(partial(_save, weeks=some, round_=round_))
        await self.database.write(partial(_drop_others, round_=round_))


def _load(connection: Connection) -> list[SavedWeek]:
    found = []
    for row in connection.execute(select(neighbour_weeks)):
        counts = np.frombuffer(row.packed, dtype=np.uint8)
        if row.role in _ROLES and len(counts) == DAYS * GRADES * _KIND.itemsize:
            subject = (
                row.name
                if row.kind == POD
                else NeighbourWorkload(row.namespace, row.kind, row.name)
            )
            days = counts.view(_KIND).astype(np.uint16).reshape(DAYS, GRADES)
            found.append(SavedWeek(NeighbourRole(row.role), subject, row.day, days))
    return found


def _next_round(connection: Connection) -> int:
    newest = connection.execute(select(func.max(neighbour_weeks.c.saved))).scalar()
    return 1 if newest is None else newest + 1


def _save(connection: Connection, *, weeks: Sequence[SavedWeek], round_: int) -> None:
    rows = [_row(one, round_) for one in weeks]
    columns = neighbour_weeks.c
    key = tuple_(columns.role, columns.namespace, columns.kind, columns.name)
    keys = [(row["role"], row["namespace"], row["kind"], row["name"]) for row in rows]
    connection.execute(delete(neighbour_weeks).where(key.in_(keys)))
    connection.execute(insert(neighbour_weeks), rows)


def _row(one: SavedWeek, round_: int) -> dict[str, object]:
    subject = one.subject
    namespace, kind, name = (
        ("", POD, subject)
        if isinstance(subject, str)
        else (subject.namespace, subject.kind, subject.name)
    )
    return {
        "role": str(one.role),
        "namespace": namespace,
        "kind": kind,
        "name": name,
        "day": one.day,
        "saved": round_,
        "packed": one.counts.astype(_KIND).tobytes(),
    }


def _drop_others(connection: Connection, *, round_: int) -> None:
    connection.execute(delete(neighbour_weeks).where(neighbour_weeks.c.saved != round_))
