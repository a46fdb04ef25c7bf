"""What clusters publish, each in the table of its own schema. A `Publications`."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, text

from nemutator_controller.database.access import Database
from nemutator_controller.database.cluster_schemas import PREFIX, cluster_of, schema_of
from nemutator_controller.database.schema import published
from nemutator_controller.database.statements import insert_new
from nemutator_controller.inventory.fleet.published import PublishedDocument

MOST_CLUSTERS = 1_000

OWNER = "owner"
"""The document that says which cluster the tables are of."""

# Of schemas that we may not read, or that an older version has made, there is nothing to show.
_SCHEMAS = text(
    "SELECT n.nspname FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
    " WHERE c.relname = :table AND c.relkind = 'r' AND starts_with(n.nspname, :prefix)"
    " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
    " ORDER BY n.nspname LIMIT :most"
)


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
                if (publication := self._find(connection, cluster, name)) is not None:
                    found[cluster] = publication
            return found

        return await self.database.read(job)

    async def find(self, cluster: str, name: str) -> PublishedDocument | None:
        def job(connection: Connection) -> PublishedDocument | None:
            if cluster not in self._clusters(connection):
                return None
            return self._find(connection, cluster, name)

        return await self.database.read(job)

    async def owner(self, claimed_by: str) -> str:
        def job(connection: Connection) -> str:
            # It stands here for as long as the tables do: the moment means nothing.
            mine = {"name": OWNER, "at": 0.0, "packed": claimed_by.encode()}
            insert_new(connection, published, [mine])
            query = select(published.c.packed).where(published.c.name == OWNER)
            return bytes(connection.execute(query).scalar_one()).decode(errors="replace")

        return await self.database.write(job)

    def _clusters(self, connection: Connection) -> list[str]:
        if connection.dialect.name != "postgresql":
            return [self.cluster]
        named = {"table": published.name, "prefix": PREFIX, "most": MOST_CLUSTERS}
        schemas = map(cluster_of, connection.scalars(_SCHEMAS, named))
        return [cluster for cluster in schemas if cluster is not None]

    def _find(self, connection: Connection, cluster: str, name: str) -> PublishedDocument | None:
        query = select(published.c.at, published.c.packed).where(published.c.name == name)
        if connection.dialect.name == "postgresql":
            elsewhere = {"schema_translate_map": {None: schema_of(cluster)}}
            row = connection.execute(query, execution_options=elsewhere).one_or_none()
        else:
            row = connection.execute(query).one_or_none()
        return None if row is None else PublishedDocument(row.at, row.packed)
