"""History in the database: its rows, and slices of their cells."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from nemutator_common import names
from sqlalchemy import Connection, bindparam, delete, insert, select

from nemutator_controller.database import claims
from nemutator_controller.database.access import Database
from nemutator_controller.database.claim import Claim
from nemutator_controller.database.schema import history_rows, history_slices
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.slices import (
    PART,
    Level,
    SavedRow,
    Slice,
    SliceName,
    UnreadableSliceError,
    packed,
    unpacked,
)

log = logging.getLogger(__name__)

LOAD_S = 30.0
"""It is read once, before the first listener starts."""

MakeKey = Callable[[str, str, str, str], RowKey]
KEY_COLUMNS = ("namespace", "owner_kind", "owner", "container")
_SLICE = ("level", "part", "cell")


@dataclass(frozen=True, slots=True)
class SqlUsageHistory:
    """A `UsageHistoryStore`."""

    database: Database
    make_key: MakeKey

    async def rows(self) -> Sequence[SavedRow]:
        return await self.database.read(partial(_rows, make_key=self.make_key), deadline_s=LOAD_S)

    async def slices(self, level: Level, part: int) -> Sequence[Slice]:
        job = partial(_slices, level=level, part=part)
        return await self.database.read(job, deadline_s=LOAD_S)

    async def save(
        self,
        rows: Sequence[SavedRow],
        gone: Sequence[int],
        slices: Sequence[Slice],
        claim: Claim | None = None,
    ) -> None:
        # Packed on the writer's thread: reports need the loop.
        await self.database.write(partial(_save, rows=rows, gone=gone, slices=slices, claim=claim))

    async def drop_beyond(self, rows: int, claim: Claim | None = None) -> None:
        await self.database.write(partial(_drop_beyond, rows=rows, claim=claim))


_DROP_ROW = delete(history_rows).where(history_rows.c.number == bindparam("the_number"))
_DROP_SLICE = delete(history_slices).where(
    *(history_slices.c[column] == bindparam(f"the_{column}") for column in _SLICE)
)


def _rows(connection: Connection, *, make_key: MakeKey) -> list[SavedRow]:
    return [
        SavedRow(
            row["number"], make_key(*(row[column] for column in KEY_COLUMNS)), row["since_save"]
        )
        for row in connection.execute(select(history_rows)).mappings()
    ]


def _slices(connection: Connection, *, level: Level, part: int) -> list[Slice]:
    asked = select(history_slices).where(
        history_slices.c.level == level, history_slices.c.part == part
    )
    found = []
    for row in connection.execute(asked).mappings():
        try:
            arrays = unpacked(row["packed"])
        except UnreadableSliceError as error:
            # It has another version's shape, or is damaged: this much is not known any more.
            where = f"{level} {row['cell']}"
            log.warning("history_unreadable", {names.OBJECT: where, names.ERROR: error})
            continue
        name = SliceName(level, part, row["cell"])
        found.append(Slice(name, row["moment"], row["saved"], arrays))
    return found


def _save(
    connection: Connection,
    *,
    rows: Sequence[SavedRow],
    gone: Sequence[int],
    slices: Sequence[Slice],
    claim: Claim | None,
) -> None:
    claims.write_by(connection, claim)
    if rows or gone:
        replaced = [*(one.number for one in rows), *gone]
        connection.execute(_DROP_ROW, [{"the_number": number} for number in replaced])
    if rows:
        connection.execute(insert(history_rows), [_row(one) for one in rows])
    if slices:
        named = [
            {f"the_{column}": getattr(one.name, column) for column in _SLICE} for one in slices
        ]
        connection.execute(_DROP_SLICE, named)
        connection.execute(insert(history_slices), [_slice(one) for one in slices])


def _drop_beyond(connection: Connection, *, rows: int, claim: Claim | None) -> None:
    claims.write_by(connection, claim)
    connection.execute(delete(history_rows).where(history_rows.c.number >= rows))
    parts = -(-rows // PART)
    connection.execute(delete(history_slices).where(history_slices.c.part >= parts))


def _row(one: SavedRow) -> Mapping[str, object]:
    key = {column: getattr(one.key, column) for column in KEY_COLUMNS}
    return {"number": one.number, **key, "since_save": one.since}


def _slice(one: Slice) -> Mapping[str, object]:
    name = {column: getattr(one.name, column) for column in _SLICE}
    return {**name, "moment": one.moment, "saved": one.saved, "packed": packed(one.arrays)}
