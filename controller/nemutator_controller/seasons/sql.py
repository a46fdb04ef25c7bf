"""Days of use, how long pods take to be ready, and what seasons have switched, in the database."""

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np
from sqlalchemy import Connection, delete, insert, or_, select, tuple_

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import season_days, season_switches, start_times
from nemutator_controller.seasons.day_book import SavedDay, Scope
from nemutator_controller.seasons.records import PolicySwitch
from nemutator_controller.seasons.start_times import KEPT_OF_ALL, SavedStarts

STEP = 500
"""Days in one transaction: reports must not wait long behind it."""
LARGEST = 1 << 16
"""Bytes of a day once it is unpacked."""

_SWITCH = msgspec.json.Decoder(PolicySwitch)
_KIND = np.dtype("<f2")
_SECONDS = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class SqlSeasonDays:
    """A `SavedDays`."""

    database: Database

    async def load(self, *, day_s: float, since: int | None = None) -> Sequence[SavedDay]:
        return await self.database.read(partial(_load, day_s=day_s, since=since))

    async def save(self, days: Sequence[SavedDay], *, day_s: float) -> None:
        for begin in range(0, len(days), STEP):
            some = days[begin : begin + STEP]
            await self.database.write(partial(_save, days=some, day_s=day_s))

    async def drop(self, *, before: int, day_s: float) -> int:
        return await self.database.write(partial(_drop, before=before, day_s=day_s))


@dataclass(frozen=True, slots=True)
class SqlStartTimes:
    """A `StartTimeStore`."""

    database: Database

    async def load(self) -> Sequence[SavedStarts]:
        return await self.database.read(_load_starts)

    async def save(self, kept: Sequence[SavedStarts], gone: Sequence[Scope]) -> None:
        for begin in range(0, len(gone), STEP):
            await self.database.write(partial(_drop_starts, scopes=gone[begin : begin + STEP]))
        for begin in range(0, len(kept), STEP):
            await self.database.write(partial(_save_starts, kept=kept[begin : begin + STEP]))


@dataclass(frozen=True, slots=True)
class SqlSeasonSwitches:
    """A `SwitchStore`."""

    database: Database

    async def all(self) -> Sequence[PolicySwitch]:
        return await self.database.read(_switches)

    async def replace(self, switches: Collection[PolicySwitch]) -> None:
        await self.database.write(partial(_replace, switches=tuple(switches)))


def _load(connection: Connection, *, day_s: float, since: int | None) -> list[SavedDay]:
    columns = season_days.c
    query = select(season_days).where(columns.day_s == day_s).order_by(columns.day)
    if since is not None:
        query = query.where(columns.day >= since)
    return [
        SavedDay((row.namespace, row.kind, row.name), row.day, use)
        for row in connection.execute(query)
        if (use := _unpacked(row.packed)) is not None
    ]


def _unpacked(packed: bytes) -> np.ndarray[tuple[int], np.dtype[np.float16]] | None:
    """None: the bytes are not a day of ours."""
    try:
        content = zlib.decompressobj().decompress(packed, LARGEST)
        return np.frombuffer(content, _KIND).astype(np.float16)
    except (zlib.error, ValueError):
        return None


def _save(connection: Connection, *, days: Sequence[SavedDay], day_s: float) -> None:
    keys = [(*one.scope, day_s, one.day) for one in days]
    columns = season_days.c
    key = tuple_(columns.namespace, columns.kind, columns.name, columns.day_s, columns.day)
    connection.execute(delete(season_days).where(key.in_(keys)))
    rows = [
        {
            "namespace": one.scope[0],
            "kind": one.scope[1],
            "name": one.scope[2],
            "day_s": day_s,
            "day": one.day,
            "packed": zlib.compress(one.use.astype(_KIND).tobytes(), 1),
        }
        for one in days
    ]
    connection.execute(insert(season_days), rows)


def _drop(connection: Connection, *, before: int, day_s: float) -> int:
    columns = season_days.c
    old = or_(columns.day < before, columns.day_s != day_s)
    return connection.execute(delete(season_days).where(old)).rowcount


def _load_starts(connection: Connection) -> list[SavedStarts]:
    return [
        SavedStarts(
            (row.namespace, row.kind, row.name), np.frombuffer(row.packed, _SECONDS).tolist()
        )
        for row in connection.execute(select(start_times))
        if len(row.packed) <= KEPT_OF_ALL * _SECONDS.itemsize
        and len(row.packed) % _SECONDS.itemsize == 0
    ]


def _drop_starts(connection: Connection, *, scopes: Sequence[Scope]) -> None:
    columns = start_times.c
    key = tuple_(columns.namespace, columns.kind, columns.name)
    connection.execute(delete(start_times).where(key.in_(scopes)))


def _save_starts(connection: Connection, *, kept: Sequence[SavedStarts]) -> None:
    _drop_starts(connection, scopes=[one.scope for one in kept])
    rows = [
        {
            "namespace": one.scope[0],
            "kind": one.scope[1],
            "name": one.scope[2],
            "packed": np.array(one.seconds, dtype=_SECONDS).tobytes(),
        }
        for one in kept
    ]
    connection.execute(insert(start_times), rows)


def _switches(connection: Connection) -> list[PolicySwitch]:
    rows = connection.execute(select(season_switches.c.document))
    return [_SWITCH.decode(row.document) for row in rows]


def _replace(connection: Connection, *, switches: Collection[PolicySwitch]) -> None:
    connection.execute(delete(season_switches))
    rows = [
        {"kind": one.kind, "name": one.name, "document": msgspec.json.encode(one)}
        for one in switches
    ]
    if rows:
        connection.execute(insert(season_switches), rows)
