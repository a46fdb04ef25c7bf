"""Recorded use in Parquet: a file, or a folder of them, put together in steps by DuckDB where it is installed.

DuckDB reads only the columns that are asked for and sums in its own threads, so that weeks of thousands of
containers come here as one point for each step. It installs and loads no extension from anywhere.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nemutator_controller.sizing.recordings import (
    ABSURD,
    COLUMNS,
    LATEST,
    LONGEST_FIELD,
    NEGATIVE,
    UNREADABLE,
    RecordedPoint,
    Recording,
    UnreadableRecordingError,
    largest_of,
    recorded,
)
from nemutator_controller.sizing.strategies.known import Resource

if TYPE_CHECKING:
    import duckdb

MAGIC = b"PAR1"
MOST_FILES = 10_000
AT_ONCE = 10_000
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "2GB",
    # What does not fit is refused, and not written to wherever this was called.
    "temp_directory": "",
}


def is_parquet(path: Path) -> bool:
    """Whether *path* is a folder, or a file that begins like one of Parquet. Raises OSError."""
    if path.is_dir():
        return True
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_parquet(path: Path, resource: Resource, *, step_s: int) -> Recording:
    """What *path* has recorded; raises `UnreadableRecordingError`."""
    try:
        import duckdb
    except ImportError as error:
        what = "it is Parquet, which DuckDB reads: install the package duckdb, or write CSV"
        raise UnreadableRecordingError(what) from error
    files = [str(path)]
    if path.is_dir():
        files = [
            str(one) for one in itertools.islice(sorted(path.rglob("*.parquet")), MOST_FILES + 1)
        ]
    if not files or len(files) > MOST_FILES:
        raise UnreadableRecordingError(f"expected 1 to {MOST_FILES} files *.parquet in it")
    try:
        with duckdb.connect(":memory:", config=_CONFIG) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            use = _use(connection, files, resource)
            dropped = use.dropped()
            return recorded(use.points(step_s), resource, step_s=step_s, dropped=dropped)
    except duckdb.Error as error:
        raise UnreadableRecordingError(str(error).splitlines()[0]) from error


_KNOWN = (
    "moment IS NOT NULL AND name IS NOT NULL AND pod IS NOT NULL AND value IS NOT NULL"
    f" AND isfinite(moment) AND isfinite(value) AND moment BETWEEN 0 AND {LATEST}"
)


@dataclass(frozen=True, slots=True)
class _Use:
    """The points of *files*. They are read anew for each question, because all of them may not fit in memory."""

    connection: "duckdb.DuckDBPyConnection"
    files: list[str]
    resource: Resource
    table: str
    """What is asked: a query for moment (seconds), name, pod and value."""

    def dropped(self) -> dict[str, int]:
        found = self.connection.execute(
            f"SELECT count(*) FILTER (NOT ({_KNOWN})), count(*) FILTER ({_KNOWN} AND value < 0),"
            f" count(*) FILTER ({_KNOWN} AND value > {largest_of(self.resource)})"
            f" FROM ({self.table})",
            [self.files],
        ).fetchone()
        counts = zip((UNREADABLE, NEGATIVE, ABSURD), found or (0, 0, 0), strict=True)
        return {reason: number for reason, number in counts if number}

    def points(self, step_s: int) -> Iterator[RecordedPoint]:
        together = "avg" if self.resource == "cpu" else "max"
        found = self.connection.execute(
            f"SELECT name, pod, floor(moment / {step_s:d}) * {step_s:d} AS step, {together}(value)"
            f" FROM ({self.table}) WHERE {_KNOWN} AND value BETWEEN 0 AND {largest_of(self.resource)}"
            " GROUP BY ALL ORDER BY name, pod, step",
            [self.files],
        )
        while rows := found.fetchmany(AT_ONCE):
            for name, pod, at, value in rows:
                yield RecordedPoint(name, pod, float(at), float(value))


def _use(connection: "duckdb.DuckDBPyConnection", files: list[str], resource: Resource) -> _Use:
    # DuckDB takes a star in a name for a pattern.
    files = ["".join(f"[{one}]" if one in "*?[" else one for one in file) for file in files]
    source = "read_parquet($1, union_by_name = true)"
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}", [files]).fetchall()
    kinds = {str(row[0]): str(row[1]) for row in described}
    wanted = (*COLUMNS, resource)
    missing = [title for title in wanted if title not in kinds]
    if missing:
        raise UnreadableRecordingError(
            f"it has no column {', '.join(missing)}; needed are {', '.join(wanted)}"
        )
    table = (
        f"SELECT {_moment(kinds['time'])} AS moment,"
        f" left(TRY_CAST(name AS VARCHAR), {LONGEST_FIELD}) AS name,"
        f" left(TRY_CAST(pod AS VARCHAR), {LONGEST_FIELD}) AS pod,"
        f' TRY_CAST("{resource}" AS DOUBLE) AS value FROM {source} WHERE "{resource}" IS NOT NULL'
    )
    return _Use(connection, files, resource, table)


def _moment(kind: str) -> str:
    """Seconds since the epoch, of a column `time` of that kind. Moments without a zone are of UTC."""
    if kind.startswith(("TIMESTAMP", "DATE")):
        return 'epoch("time")'
    if kind == "VARCHAR":
        return 'coalesce(TRY_CAST("time" AS DOUBLE), epoch(TRY_CAST("time" AS TIMESTAMPTZ)))'
    return 'TRY_CAST("time" AS DOUBLE)'
