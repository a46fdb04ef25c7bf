"""Opens a database of PostgreSQL: reached, with our schema, or else with an error that says what to do.

Several brains write the same tables. What a job reads in its transaction may not be changed by another
brain before it commits, so writes are SERIALIZABLE: of two that would not fit one after the other
PostgreSQL refuses one, and that job is run again. So stores are written as for a database of their own.
"""

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
import psycopg.conninfo
from nemutator_common.errors import ExitCode, OperatorError
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.schema import CreateSchema

from nemutator_controller.database.cluster_schemas import schema_of
from nemutator_controller.database.failures import (
    POSTGRES_EXPLANATIONS,
    POSTGRES_REMEDIES,
    Reason,
    postgres_reason_of,
)
from nemutator_controller.database.failures import Engine as EngineName
from nemutator_controller.database.schema import HEAD
from nemutator_controller.database.upgrade import (
    ForeignFormError,
    NewerFormError,
    migrate,
    written_by,
)
from nemutator_controller.setting_checks import DATABASE_OPTIONS

READERS = 4
TRIES = 12
"""Of two jobs that meet, one is stored: with so many tries a dozen brains at the same row all are."""

CONNECT_S = 3
STATEMENT_S = 4.5
"""Less than callers wait for a job: a thread that nobody waits for any more should not stay taken."""

LOCK_S = 3.0
"""Less than that, so that a lock is told from a slow server."""

UPGRADE_S = 600
"""An index on a large table takes minutes. No listener is up before that."""

_LOCK = 0x6E656D75
"""That one brain upgrades while the others wait: the number is ours alone ("nemu")."""

_QUIET_S = 10
"""A connection that has heard nothing for so long is dead: a machine that vanishes does not say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where PostgreSQL is, and as whom."""

    host: str
    port: int
    user: str
    database: str
    options: Mapping[str, str]
    password_file: Path | None
    """Read anew for each connection. None: libpq looks for PGPASSWORD and its own password file."""
    schema: str = ""
    """Where the tables are; empty: where PostgreSQL puts them."""

    @property
    def place(self) -> str:
        return f"postgresql://{self.user}@{self.host}:{self.port}/{self.database}"


def server_of(url: str, password_file: str, cluster: str = "") -> Server:
    """What the settings say, which `settings.database_url` has checked."""
    parts = urlsplit(url)
    options = {key: value for key, value in parse_qsl(parts.query) if key in DATABASE_OPTIONS}
    return Server(
        host=parts.hostname or "localhost",
        port=parts.port or 5432,
        user=unquote(parts.username or "nemutator"),
        database=unquote(parts.path.strip("/")) or "nemutator",
        options=options,
        password_file=Path(password_file) if password_file else None,
        schema=schema_of(cluster),
    )


@dataclass(frozen=True, slots=True)
class PostgresEngines:
    """Two pools: one connection that may write, and a few that only read."""

    place: str
    _writing: Engine
    _reading: Engine
    name: EngineName = "postgresql"
    readers: int = READERS
    tries: int = TRIES
    # What is deleted gives its space back only after a vacuum, and PostgreSQL's disk is not ours.
    gives_up_history: bool = False

    def writing(self, deadline_s: float) -> AbstractContextManager[Connection]:
        return _begun(self._writing, deadline_s)

    def reading(self, deadline_s: float) -> AbstractContextManager[Connection]:
        return _begun(self._reading, deadline_s)

    def reason_of(self, error: BaseException | None) -> Reason:
        return postgres_reason_of(error)

    def close(self) -> None:
        self._reading.dispose()
        self._writing.dispose()


def open_postgres(server: Server) -> PostgresEngines:
    """Make or migrate the tables, and prove that they are usable.

    Raises `OperatorError` when they are not; then nothing has been changed.
    """
    upgrading = _engine(server, isolation="READ_COMMITTED", size=0)
    with _explained(server), upgrading.begin() as connection:
        _bring_up_to_date(connection, server.schema)
    return PostgresEngines(
        server.place,
        _engine(server, isolation="SERIALIZABLE", size=1),
        _engine(server, isolation="REPEATABLE_READ", size=READERS, read_only=True),
    )


def _engine(server: Server, *, isolation: str, size: int, read_only: bool = False) -> Engine:
    statement_s = STATEMENT_S if size else UPGRADE_S

    def connect() -> "psycopg.Connection[tuple[object, ...]]":
        target = psycopg.conninfo.make_conninfo(
            **_target(server),
            connect_timeout=CONNECT_S,
            application_name="nemutator-brain",
            tcp_user_timeout=_QUIET_S * 1000,
            keepalives_idle=_QUIET_S,
            keepalives_interval=2,
            keepalives_count=3,
            options=" ".join(
                f"-c {name}={value}"
                for name, value in {
                    "statement_timeout": round(statement_s * 1000),
                    "lock_timeout": round((LOCK_S if size else 60) * 1000),
                    # A brain that was stopped in mid transaction may not hold up the others.
                    "idle_in_transaction_session_timeout": _QUIET_S * 1000,
                    "synchronous_commit": "on",
                    "timezone": "UTC",
                    # A name is of small letters, digits and dashes; libpq splits options at spaces.
                    **({"search_path": f'"{server.schema}"'} if server.schema else {}),
                }.items()
            ),
        )
        connection = psycopg.connect(target)
        connection.isolation_level = psycopg.IsolationLevel[isolation]
        # None: as the server says, so that who makes it read only is obeyed.
        connection.read_only = read_only or None
        return connection

    if not size:
        return create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)
    return create_engine(
        "postgresql+psycopg://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        # A server that was restarted meanwhile is asked again before the job, and not by failing it.
        pool_pre_ping=True,
    )


def _target(server: Server) -> dict[str, Any]:
    target: dict[str, Any] = {
        "host": server.host,
        "port": server.port,
        "user": server.user,
        "dbname": server.database,
        **server.options,
    }
    if server.password_file is not None:
        try:
            target["password"] = server.password_file.read_text().strip()
        except OSError as error:
            # As what it is to callers: a connection that was not made.
            what = f"no password supplied: {server.password_file}: {error.strerror}"
            raise psycopg.OperationalError(what) from error
    return target


@contextlib.contextmanager
def _begun(engine: Engine, deadline_s: float) -> Iterator[Connection]:
    with engine.begin() as connection:
        if deadline_s > STATEMENT_S + 1:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {round(deadline_s * 1000)}")
        try:
            yield connection
        except DBAPIError as error:
            if postgres_reason_of(error.orig) == "read_only":
                # That it may not write a session is told as it begins, and after a failover the name stands for
                # another server: the next job has a new one.
                connection.invalidate()
            raise


def _bring_up_to_date(connection: Connection, schema: str) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
    if schema:
        connection.execute(CreateSchema(schema, if_not_exists=True))
    query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    if written_by(connection, set(connection.scalars(text(query)))) != HEAD:
        migrate(connection)


@contextlib.contextmanager
def _explained(server: Server) -> Iterator[None]:
    place = server.place
    try:
        yield
    except NewerFormError as newer:
        raise OperatorError(
            f"database: {place}: {newer}",
            remedy="start that newer version again, or name an empty database in brain.database",
            code=ExitCode.DATABASE,
        ) from newer
    except ForeignFormError as foreign:
        raise OperatorError(
            f"database: {place}: {foreign}",
            remedy="name a database that is for nemutator alone in brain.database",
            code=ExitCode.DATABASE,
        ) from foreign
    except (DBAPIError, psycopg.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = postgres_reason_of(cause)
        if reason == "other":
            raise
        said = " ".join(str(cause).split())[:300]
        raise OperatorError(
            f"database: {place}: {POSTGRES_EXPLANATIONS[reason].format('PostgreSQL')}: {said}",
            remedy=_before_starting_again(reason).format(place),
            code=_CODES.get(reason, ExitCode.UNREACHABLE),
        ) from error


def _before_starting_again(reason: Reason) -> str:
    action = POSTGRES_REMEDIES.get(reason)
    return "start again once it answers" if action is None else f"{action}, then start again"


# What a restart cannot heal; with any other a supervisor should try again.
_CODES: Mapping[Reason, ExitCode] = {
    "damaged": ExitCode.DATABASE,
    "denied": ExitCode.DATABASE,
    "read_only": ExitCode.DATABASE,
}
