"""Statements that the two engines spell differently."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Integer


class whole_number(GenericFunction[int]):  # noqa: N801 - named as SQL functions are
    """The whole part of a positive number: PostgreSQL's CAST would round."""

    type = Integer()
    inherit_cache = True


@compiles(whole_number)
def _cast(element: whole_number, compiler: SQLCompiler, **words: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **words)} AS INTEGER)"


@compiles(whole_number, "postgresql")
def _floor(element: whole_number, compiler: SQLCompiler, **words: Any) -> str:
    return f"floor({compiler.process(element.clauses, **words)})"


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add those of *rows* whose key is new, and leave the others as they are."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), list(rows))


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add *rows*, in the place of those that have their keys; all have the same columns."""
    if not rows:
        return
    statement = _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    new: dict[str, ColumnElement[Any]] = {
        name: statement.excluded[name] for name in rows[0] if name not in keys
    }
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=new), list(rows))


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
