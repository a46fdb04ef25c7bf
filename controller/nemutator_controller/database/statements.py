"""Statements that the two engines spell differently."""

from collections.abc import Mapping, Sequence
from functools import cache
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
        connection.execute(_insert_new(connection.dialect.name, table), list(rows))


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add *rows*, in the place of those that have their keys; all have the same columns."""
    if not rows:
        return
    statement = _insert(connection.dialect.name, table)
    keys = [column.name for column in table.primary_key]
    new: dict[str, ColumnElement[Any]] = {
        name: statement.excluded[name] for name in rows[0] if name not in keys
    }
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=new), list(rows))


@cache
def _insert_new(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Made once for each table: to put it together takes as long as to execute it."""
    return _insert(dialect, table).on_conflict_do_nothing()


def _insert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
