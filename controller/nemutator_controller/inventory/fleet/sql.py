"""What clusters publish, each in the table of its own schema. A `Publications`."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from nemutator_controller.database.access import Database
from nemutator_controller.database.cluster_tables import OtherVersionError, clusters_with, read_of
from nemutator_controller.database.schema import published
from nemutator_controller.database.statements import insert_new
from nemutator_controller.inventory.fleet.published import (
    UNKNOWN,
    PublishedDocument,
    UnreadablePublicationError,
)

OWNER = "owner"
"""The document that says which cluster the tables are of."""

LATEST = 1e11
"""Seconds since 1970: no clock is there."""


@dataclass(frozen=True, slots=True)
class SqlPublications:
    database: Database
    cluster: str
    """Ours."""

    async def publish(self, documents: Mapping[str, bytes], *, at: float) -> None:
        def job(connection: Connection) -> None:
            connection.execute(delete(published).where(published.c.name.in_(list(documents))))
            connection.execute(
                insert(published),
                [
                    {"name": name, "at": at, "packed": content}
                    for name, content in documents.items()
                ],
            )

        await self.database.write(job)

    async def all_of(self, name: str) -> Mapping[str, PublishedDocument]:
        def job(connection: Connection) -> dict[str, PublishedDocument]:
            found = {}
            for cluster in self._clusters(connection):
                try:
                    # PostgreSQL ends what one failed statement is in: here only the part for this cluster.
                    with connection.begin_nested():
                        publication = self._find(connection, cluster, name)
                except OtherVersionError:
                    publication = UNKNOWN
                if publication is not None:
                    found[cluster] = publication
            return found

        return await self.database.read(job)

    async def find(self, cluster: str, name: str) -> PublishedDocument | None:
        def job(connection: Connection) -> PublishedDocument | None:
            if cluster not in self._clusters(connection):
                return None
            return self._find(connection, cluster, name)

        try:
            return await self.database.read(job)
        except OtherVersionError as error:
            raise UnreadablePublicationError(str(error)) from error

    async def owner(self, claimed_by: str) -> str:
        def job(connection: Connection) -> str:
            # It stands here for as long as the tables do: the moment means nothing.
            mine = {"name": OWNER, "at": 0.0, "packed": claimed_by.encode()}
            insert_new(connection, published, [mine])
            query = select(published.c.packed).where(published.c.name == OWNER)
            return bytes(connection.execute(query).scalar_one()).decode(errors="replace")

        return await self.database.write(job)

    def _clusters(self, connection: Connection) -> list[str]:
        return clusters_with(connection, published, ours=self.cluster)

    def _find(self, connection: Connection, cluster: str, name: str) -> PublishedDocument | None:
        query = select(published.c.at, published.c.packed).where(published.c.name == name)
        row = read_of(connection, cluster, query).one_or_none()
        if row is None:
            return None
        # What another cluster has written may be anything.
        return PublishedDocument(row.at if 0 <= row.at <= LATEST else UNKNOWN.at, row.packed)
