"""The profiles of each cluster, in the table of its own schema."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.cluster_tables import OtherVersionError, clusters_with, read_of
from nemutator_controller.database.schema import profiles
from nemutator_controller.objects.ports import ObjectStore
from nemutator_controller.profiles.records import ProfileRecord
from nemutator_controller.profiles.separating import object_key
from nemutator_controller.profiles.sql import decoded

T = TypeVar("T")


class NoSuchClusterError(Exception):
    """Nobody has kept a profile under that name."""


class OtherProfilesError(Exception):
    """Another version keeps them, in a form that this one cannot read."""


@dataclass(frozen=True, slots=True)
class SqlClusterProfiles:
    """The `ReadProfiles` of *cluster*. Its calls raise `NoSuchClusterError`, and `OtherProfilesError`."""

    database: Database
    cluster: str
    ours: str
    contents: ObjectStore | None
    """Ours; its contents are there if its brain uses the same bucket, with the same beginning of keys."""

    async def newest(self, most: int) -> Sequence[ProfileRecord]:
        order = profiles.c.asked_at.desc(), profiles.c.id
        query = select(profiles.c.document).order_by(*order).limit(most)

        def job(connection: Connection) -> list[ProfileRecord]:
            found = read_of(connection, self.cluster, query).scalars()
            return [one for document in found for one in decoded(document)]

        return await self._read(job)

    async def find(self, identity: str) -> ProfileRecord | None:
        query = select(profiles.c.document).where(profiles.c.id == identity)

        def job(connection: Connection) -> ProfileRecord | None:
            found = read_of(connection, self.cluster, query).scalars()
            return next((one for document in found for one in decoded(document)), None)

        return await self._read(job)

    async def pprof(self, identity: str) -> bytes | None:
        query = select(profiles.c.pprof).where(profiles.c.id == identity)

        def job(connection: Connection) -> bytes | None:
            return read_of(connection, self.cluster, query).scalar_one_or_none()

        found = await self._read(job)
        if found is not None or self.contents is None:
            return found
        return await self.contents.get(object_key(identity))

    async def _read(self, job: Callable[[Connection], T]) -> T:
        def checked(connection: Connection) -> T:
            # A name of a cluster becomes that of a schema: it is one that the database itself has said.
            known = clusters_with(connection, profiles, ours=self.ours)
            if not self.ours or self.cluster not in known:
                raise NoSuchClusterError
            return job(connection)

        try:
            return await self.database.read(checked)
        except OtherVersionError as error:
            raise OtherProfilesError from error
