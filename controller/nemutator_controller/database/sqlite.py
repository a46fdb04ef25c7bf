"""Opens the SQLite file: private, intact and with our schema, or else with an error that says what
to do."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import QueuePool

from nemutator_controller.database.failures import EXPLANATIONS, Reason, reason_of
from nemutator_controller.database.failures import Engine as EngineName
from nemutator_controller.database.schema import HEAD
from nemutator_controller.database.upgrade import (
    ForeignFormError,
    NewerFormError,
    migrate,
    written_by,
)

READERS = 2
PAGE_BYTES = 4096
FEWEST_PAGES = 64
"""That SQLite needs on the disk beside its file, to open it."""

BUSY_MS = 1_000
"""How long SQLite waits for another program's lock, which is less than our callers wait for us."""


@dataclass(frozen=True, slots=True)
class SqliteEngines:
    """Two engines for the same file: one connection that may write, and a few that only read."""

    path: Path
    _inode: int
    """Of what was opened there."""
    _writing: Engine
    _reading: Engine
    name: EngineName = "sqlite"
    readers: int = READERS
    tries: int = 1
    gives_up_history: bool = True

    @property
    def place(self) -> str:
        """The directory: what its disk has too little of is said of it."""
        return str(self.path.parent)

    def writing(self, deadline_s: float) -> AbstractContextManager[Connection]:
        if _inode_of(self.path) != self._inode:
            raise _moved()
        return self._writing.begin()

    def reading(self, deadline_s: float) -> AbstractContextManager[Connection]:
        return self._reading.begin()

    def reason_of(self, error: BaseException | None) -> Reason:
        return reason_of(error)

    def close(self) -> None:
        self._reading.dispose()
        # The last connection to close moves the write-ahead log into the file and removes it.
        self._writing.dispose()


def open_sqlite(path: Path, *, largest_bytes: int) -> SqliteEngines:
    """Make or migrate the database at *path*, and prove that it is usable.

    Raises `OperatorError` when it is not; then nothing in it has been changed.
    """
    _own(path)
    known = path.stat().st_size > 0
    writing = _engine(path, largest_bytes=largest_bytes)
    try:
        with _explained(path, known=known), writing.begin() as connection:
            _bring_up_to_date(path, connection)
        reading = _engine(path, largest_bytes=largest_bytes, readers=READERS)
    except BaseException:
        writing.dispose()
        raise
    return SqliteEngines(path, _inode_of(path), writing, reading)


def _inode_of(path: Path) -> int:
    """Of the file that is there now; 0: none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _moved() -> OperationalError:
    """SQLite looks for that itself where it writes into the file, and not where it writes ahead: what it would then
    acknowledge is in a file that nobody finds after the next start."""
    error = sqlite3.OperationalError("its file is no longer where it was opened")
    error.sqlite_errorname = "SQLITE_READONLY_DBMOVED"
    return OperationalError(None, None, error)


def _own(path: Path) -> None:
    """Create the file before SQLite does, because its journals inherit the mode of the file."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(fd).st_mode & 0o077:
                os.fchmod(fd, 0o600)
        finally:
            os.close(fd)
    except OSError as error:
        raise OperatorError(
            f"database: {path}: {error.strerror}",
            remedy="give this user the right to read and write this file and its directory, "
            "or name another directory with --data-dir",
            code=ExitCode.DATA_DIRECTORY,
        ) from error


def _engine(path: Path, *, largest_bytes: int, readers: int = 0) -> Engine:
    def connect() -> sqlite3.Connection:
        # There is no isolation level: the driver's own transactions would not include DDL.
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000
        )
        try:
            for pragma in (
                "journal_mode = WAL",
                # An acknowledged report survives a power cut, not only a crash of the brain.
                "synchronous = FULL",
                f"max_page_count = {largest_bytes // PAGE_BYTES}",
                "journal_size_limit = 4194304",
                "trusted_schema = OFF",
                f"query_only = {'ON' if readers else 'OFF'}",
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=readers or 1, max_overflow=0
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # If the lock were taken late, a transaction could fail half way, with nobody to wait for.
        connection.exec_driver_sql("BEGIN" if readers else "BEGIN IMMEDIATE")

    return engine


def _bring_up_to_date(path: Path, connection: Connection) -> None:
    tables = set(connection.scalars(text("SELECT name FROM sqlite_schema WHERE type = 'table'")))
    revision = written_by(connection, tables)
    if revision is None:
        migrate(connection)
        return
    if (problem := connection.scalar(text("PRAGMA quick_check(1)"))) != "ok":
        raise _unusable(path, f"it is damaged: {problem}")
    if revision != HEAD:
        migrate(connection)


def _unusable(path: Path, why: str) -> OperatorError:
    return OperatorError(
        f"database: {path}: {why}",
        remedy="move the file away (nemutator then begins a new one without history), "
        "or put a good copy in its place",
        code=ExitCode.DATABASE,
    )


def _free_bytes(path: Path) -> int:
    disk = os.statvfs(path.parent)
    return disk.f_bavail * disk.f_frsize


@contextlib.contextmanager
def _explained(path: Path, *, known: bool) -> Iterator[None]:
    """*known*: something was stored in it already, so that it was in the right place."""
    try:
        yield
    except NewerFormError as newer:
        raise OperatorError(
            f"database: {path}: {newer}",
            remedy="start that newer version again, or move the file away to begin without history",
            code=ExitCode.DATABASE,
        ) from newer
    except ForeignFormError as foreign:
        raise _unusable(path, str(foreign)) from foreign
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        match reason_of(cause):
            case "full" | "io" if known and _free_bytes(path) < PAGE_BYTES * FEWEST_PAGES:
                raise OperatorError(
                    f"database: {path}: {EXPLANATIONS['full'].format(path.parent)}",
                    remedy=f"make room on the disk of {path.parent}, then start again",
                    code=ExitCode.NO_SPACE,
                ) from error
            case "damaged":
                raise _unusable(path, f"it is damaged, or no database: {cause}") from error
            case "busy":
                what, code = "another program holds a lock on it", ExitCode.DATABASE
                remedy = "end that program (an open sqlite3 shell?), then start again"
            case "full" | "read_only" | "io":
                what, code = str(cause), ExitCode.DATA_DIRECTORY
                remedy = "make space on its disk and let this user write it, or name another "
                remedy += "directory with --data-dir"
            case _:
                raise
        raise OperatorError(f"database: {path}: {what}", remedy=remedy, code=code) from error
