"""A copy of a SQLite file that is in use, and whether a copy is sound."""

import sqlite3
from contextlib import closing
from pathlib import Path

BUSY_S = 10.0


class NotCopiedError(Exception):
    """What SQLite says."""


def copy_database(source: Path, target: Path) -> None:
    """A copy as of one moment, while others read and write *source*; raises NotCopiedError.

    One read transaction: a copy by pages begins anew whenever somebody writes, and a brain always does.
    """
    try:
        with closing(
            sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, timeout=BUSY_S)
        ) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise NotCopiedError(str(error)) from error


def fault_of(path: Path) -> str:
    """Why *path* is no database of a brain; empty: it is one."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as found:
            found.execute("PRAGMA trusted_schema = OFF")
            (said,) = found.execute("PRAGMA quick_check(1)").fetchone()
            if said != "ok":
                return f"its database is damaged: {said}"
            known = found.execute(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'alembic_version'"
            ).fetchone()
    except sqlite3.Error as error:
        return f"its database is none: {error}"
    return "" if known else "its database is not one of a brain"
