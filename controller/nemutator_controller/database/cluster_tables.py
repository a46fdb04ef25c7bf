"""Reads the tables of the clusters on one PostgreSQL; an SQLite file has those of one cluster."""

from typing import Any

from sqlalchemy import Connection, CursorResult, Select, Table, text
from sqlalchemy.exc import ProgrammingError

from nemutator_controller.database.cluster_schemas import PREFIX, cluster_of, schema_of
from nemutator_controller.database.failures import StoreUnavailableError

MOST_CLUSTERS = 1_000

# Of schemas that we may not read, or that an older version has made, there is nothing to show.
_SCHEMAS = text(
    "SELECT n.nspname FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
    " WHERE c.relname = :table AND c.relkind = 'r' AND starts_with(n.nspname, :prefix)"
    " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
    " ORDER BY n.nspname LIMIT :most"
)

_OTHER_FORM = frozenset({"42703", "42P01"})
"""PostgreSQL's codes for a column and for a table that is not there."""


class OtherVersionError(StoreUnavailableError):
    """The tables of that cluster have not the form that this version knows."""

    def __init__(self) -> None:
        super().__init__("other", None, "postgresql")


def clusters_with(connection: Connection, table: Table, *, ours: str) -> list[str]:
    """The clusters whose *table* we may read."""
    if connection.dialect.name != "postgresql":
        return [ours]
    named = {"table": table.name, "prefix": PREFIX, "most": MOST_CLUSTERS}
    schemas = map(cluster_of, connection.scalars(_SCHEMAS, named))
    return [cluster for cluster in schemas if cluster is not None]


def read_of(
    connection: Connection, cluster: str, query: Select[Any], *, at_once: int | None = None
) -> CursorResult[Any]:
    """The rows of *query* in the tables of *cluster*, which is one of `clusters_with`; raises `OtherVersionError`.

    *at_once*: so many rows are held at a time, where they are many.
    """
    options: dict[str, Any] = {}
    if connection.dialect.name == "postgresql":
        options["schema_translate_map"] = {None: schema_of(cluster)}
    if at_once is not None:
        options["yield_per"] = at_once
    try:
        return connection.execute(query, execution_options=options)
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", "") in _OTHER_FORM:
            raise OtherVersionError from error
        raise
