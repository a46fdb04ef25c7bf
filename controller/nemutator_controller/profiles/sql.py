"""Profiles in the database: a document for each, and the profile itself beside it."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
from nemutator_common import names
from sqlalchemy import Connection, Select, delete, func, insert, select, update

from nemutator_controller.database.access import Database
from nemutator_controller.database.schema import profiles
from nemutator_controller.profiles.records import ProfileRecord, SurplusProfiles

log = logging.getLogger(__name__)

_AGE = profiles.c.asked_at

OPEN = ("asked", "running")
STEP = 100
"""Profiles that are removed in one transaction."""

_decoder = msgspec.json.Decoder(ProfileRecord)


@dataclass(frozen=True, slots=True)
class SqlProfiles:
    """A `ProfileStore`."""

    database: Database

    async def save(self, profile: ProfileRecord, pprof: bytes | None = None) -> None:
        await self.database.write(partial(_save, profile=profile, pprof=pprof))

    async def find(self, identity: str) -> ProfileRecord | None:
        found = await self._documents(select(profiles.c.document).where(profiles.c.id == identity))
        return found[0] if found else None

    async def unfinished(self) -> Sequence[ProfileRecord]:
        return await self._documents(
            select(profiles.c.document).where(profiles.c.state.in_(OPEN)).order_by(_AGE)
        )

    async def newest(self, most: int) -> Sequence[ProfileRecord]:
        newest = select(profiles.c.document).order_by(profiles.c.asked_at.desc(), profiles.c.id)
        return await self._documents(newest.limit(most))

    async def pprof(self, identity: str) -> bytes | None:
        query = select(profiles.c.pprof).where(profiles.c.id == identity)
        return await self.database.read(lambda connection: connection.scalar(query))

    async def prune(self, *, most: int, most_bytes: int) -> tuple[int, int]:
        # Read first: writing, if only to find nothing, would cost a turn of the writer each time.
        count, size = await self.database.read(_extent)
        if count <= most and size <= most_bytes:
            return 0, 0
        found = await self.database.write(partial(_prune, most=most, most_bytes=most_bytes))
        return len(found.by_count), len(found.by_bytes)

    async def surplus(self, *, most: int, most_bytes: int) -> SurplusProfiles:
        return await self.database.read(partial(_surplus, most=most, most_bytes=most_bytes))

    async def remove(self, identities: Sequence[str]) -> None:
        def job(connection: Connection) -> None:
            _remove(connection, identities)

        await self.database.write(job)

    async def _documents(self, query: Select[bytes]) -> list[ProfileRecord]:
        def job(connection: Connection) -> list[ProfileRecord]:
            return [found for one in connection.scalars(query) for found in decoded(one)]

        return await self.database.read(job)


def decoded(document: bytes) -> Iterator[ProfileRecord]:
    try:
        yield _decoder.decode(document)
    except msgspec.MsgspecError as error:
        # It has another version's shape: it is removed by age, like any other.
        log.warning("profile_unreadable", {names.ERROR: error})


def _save(connection: Connection, *, profile: ProfileRecord, pprof: bytes | None) -> None:
    values = {
        "asked_at": profile.asked_at,
        "state": profile.state,
        "node": profile.node,
        "bytes": profile.bytes,
        "document": msgspec.json.encode(profile),
    }
    if pprof is not None:
        values["pprof"] = pprof
    changed = connection.execute(
        update(profiles).where(profiles.c.id == profile.id).values(**values)
    )
    if not changed.rowcount:
        connection.execute(insert(profiles).values(id=profile.id, **values))


def _extent(connection: Connection) -> tuple[int, int]:
    finished = profiles.c.state.not_in(OPEN)
    query = select(func.count(), func.coalesce(func.sum(profiles.c.bytes), 0)).where(finished)
    count, size = connection.execute(query).one()
    return int(count), int(size)


def _prune(connection: Connection, *, most: int, most_bytes: int) -> SurplusProfiles:
    found = _surplus(connection, most=most, most_bytes=most_bytes)
    _remove(connection, found.identities)
    return found


def _surplus(connection: Connection, *, most: int, most_bytes: int) -> SurplusProfiles:
    by_count, by_bytes = list[str](), list[str]()
    count, size = _extent(connection)
    oldest = (
        select(profiles.c.id, profiles.c.bytes)
        .where(profiles.c.state.not_in(OPEN))
        .order_by(_AGE)
        .limit(STEP)
    )
    for identity, bytes_ in connection.execute(oldest).all():
        if count > most:
            by_count.append(identity)
        elif size > most_bytes:
            by_bytes.append(identity)
        else:
            break
        count, size = count - 1, size - bytes_
    return SurplusProfiles(tuple(by_count), tuple(by_bytes))


def _remove(connection: Connection, identities: Sequence[str]) -> None:
    if identities:
        connection.execute(delete(profiles).where(profiles.c.id.in_(identities)))
