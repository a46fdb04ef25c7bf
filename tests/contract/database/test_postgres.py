"""The real PostgreSQL as the brain's database: opened, refused, lost, found again; shared by several brains."""

import asyncio
import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.readiness import Readiness
from nemutator_controller.database.failures import StoreUnavailableError, ValueRefusedError
from nemutator_controller.database.postgres import Server, open_postgres, server_of
from nemutator_controller.database.schema import HEAD, cursors, history, latest, metadata
from nemutator_controller.database.statements import upsert
from sqlalchemy import Connection, func, insert, select, text, update

from tests.fakes.databases import opened_on
from tests.fakes.meters import MemoryMeter
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.parts.postgres_disks import small_disk

pytestmark = pytest.mark.e2e

NODE = {"node": "n", "epoch": "e"}


@pytest.fixture
def server(postgres: Postgres, tmp_path: Path) -> Iterator[Server]:
    with new_database(postgres, tmp_path) as server:
        yield server


def refused(server: Server) -> OperatorError:
    with pytest.raises(OperatorError) as refusal:
        open_postgres(server)
    error = refusal.value
    assert server.place in error.what
    assert error.remedy
    assert server.password_file is not None
    assert server.password_file.read_text() not in f"{error.what} {error.remedy}"
    return error


def point(connection: Connection, at: float) -> None:
    connection.execute(insert(history).values(node="n", at=at, memory_used_bytes=1 << 40))


def count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(history)) or 0


def test_its_tables_are_those_of_the_schema(server: Server) -> None:
    open_postgres(server).close()
    engines = open_postgres(server)
    with engines.reading(5) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == HEAD
    engines.close()


async def test_brains_that_start_at_once_upgrade_it_once(server: Server) -> None:
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        starting = [tasks.create_task(asyncio.to_thread(open_postgres, server)) for _ in range(4)]
    for engines in (one.result() for one in starting):
        with engines.reading(5) as connection:
            assert count(connection) == 0
        engines.close()


def test_one_from_the_future_is_refused_and_both_forms_are_named(
    server: Server, postgres: Postgres
) -> None:
    open_postgres(server).close()
    postgres.sql("UPDATE alembic_version SET version_num = '9999'", database=server.database)
    error = refused(server)
    assert error.code == ExitCode.DATABASE
    assert "9999" in error.what
    assert HEAD in error.what


def test_another_programs_is_refused(server: Server, postgres: Postgres) -> None:
    postgres.sql("CREATE TABLE theirs (x int)", database=server.database)
    error = refused(server)
    assert error.code == ExitCode.DATABASE
    assert "another program" in error.what


def test_a_wrong_password_is_refused_and_not_repeated(server: Server) -> None:
    assert server.password_file is not None
    server.password_file.write_text("not-the-password")
    error = refused(server)
    assert error.code == ExitCode.DATABASE
    assert "password" in error.what


def test_a_missing_password_file_is_named(server: Server, tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="nowhere: No such file"):
        open_postgres(replace(server, password_file=tmp_path / "nowhere"))


def test_a_password_may_stand_in_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.password_file is not None
    monkeypatch.setenv("PGPASSWORD", server.password_file.read_text())
    open_postgres(replace(server, password_file=None)).close()


def test_a_user_without_the_right_to_make_tables_is_refused(
    server: Server, postgres: Postgres
) -> None:
    postgres.sql(f"ALTER DATABASE {server.database} OWNER TO postgres")
    assert refused(server).code == ExitCode.DATABASE


def test_one_that_is_gone_is_worth_another_try(server: Server) -> None:
    error = refused(replace(server, port=9))
    assert error.code == ExitCode.UNREACHABLE
    assert "cannot be reached" in error.what


async def test_one_that_goes_away_and_comes_back_is_found_again(
    server: Server, postgres: Postgres
) -> None:
    meter, readiness = MemoryMeter(), Readiness()
    with opened_on(server, meter=meter, readiness=readiness) as database:
        await database.write(partial(point, at=1))
        postgres.sql(f"ALTER DATABASE {server.database} ALLOW_CONNECTIONS false")
        end_sessions(postgres, server)
        failure = await failed(database.write(partial(point, at=2)))
        assert failure.reason == "gone"
        assert server.place in readiness.problems()["database"]
        with pytest.raises(StoreUnavailableError):
            await database.read(count)
        postgres.sql(f"ALTER DATABASE {server.database} ALLOW_CONNECTIONS true")
        await database.write(partial(point, at=3))
        assert not readiness.problems()
        assert await database.read(count) == 2
    assert meter.value(names.DATABASE_FAILURES, operation="write", reason="gone") == 1


async def test_a_restart_between_two_jobs_fails_neither(server: Server, postgres: Postgres) -> None:
    with opened_on(server) as database:
        await database.write(partial(point, at=1))
        assert await database.read(count) == 1
        end_sessions(postgres, server)
        await database.write(partial(point, at=2))
        assert await database.read(count) == 2


async def test_a_session_that_ends_in_mid_transaction_leaves_nothing(
    server: Server, postgres: Postgres
) -> None:
    def half(connection: Connection) -> None:
        point(connection, 1)
        end_sessions(postgres, server)
        point(connection, 2)

    with opened_on(server) as database:
        assert (await failed(database.write(half))).reason == "gone"
        assert await database.read(count) == 0


@pytest.mark.slow
async def test_a_slow_one_is_given_up_and_a_locked_one_is_busy(
    server: Server, postgres: Postgres
) -> None:
    with opened_on(server) as database:
        sleeping = text("SELECT pg_sleep(60)")
        slow = database.write(lambda connection: connection.execute(sleeping).rowcount)
        assert (await failed(slow)).reason == "deadline"
        with holding(server, "LOCK TABLE history IN ACCESS EXCLUSIVE MODE"):
            locked = database.write(partial(point, at=1), deadline_s=60)
            assert (await failed(locked)).reason == "busy"
        await database.write(partial(point, at=1))


async def test_a_read_only_one_says_so(server: Server, postgres: Postgres) -> None:
    with opened_on(server) as database:
        postgres.sql(f"ALTER ROLE {server.user} SET default_transaction_read_only = on")
        end_sessions(postgres, server)
        failure = await failed(database.write(partial(point, at=1)))
        assert failure.reason == "read_only"
        assert "primary" in failure.remedy
        assert await database.read(count) == 0
        # What a session was given when it began it keeps, and a failover moves a name to another machine.
        postgres.sql(f"ALTER ROLE {server.user} RESET default_transaction_read_only")
        await database.write(partial(point, at=1))
        assert await database.read(count) == 1


@pytest.mark.parametrize(
    ("done", "undone"),
    [
        (
            "TABLE history RENAME COLUMN node TO machine",
            "TABLE history RENAME COLUMN machine TO node",
        ),
        ("TABLE history RENAME TO past", "TABLE past RENAME TO history"),
        ("SCHEMA public RENAME TO elsewhere", "SCHEMA elsewhere RENAME TO public"),
    ],
)
async def test_tables_that_another_version_has_changed_meanwhile_are_told(
    server: Server, postgres: Postgres, done: str, undone: str
) -> None:
    with opened_on(server) as database:
        postgres.sql(f"ALTER {done}", database=server.database)
        failure = await failed(database.write(partial(point, at=1)))
        assert failure.reason == "form"
        assert "the version that has upgraded them" in failure.remedy
        postgres.sql(f"ALTER {undone}", database=server.database)
        await database.write(partial(point, at=1))
        assert await database.read(count) == 1


async def test_a_full_disk_says_so_and_heals(postgres: Postgres, tmp_path: Path) -> None:
    with small_disk(postgres, "24m") as (space, grow), new_database(postgres, tmp_path) as server:
        postgres.sql(f"ALTER DATABASE {server.database} SET TABLESPACE {space}")
        with opened_on(server) as database:
            # Few and large: to make many takes a busy machine longer than a transaction may be idle.
            rows = [
                {
                    "node": f"n{number}",
                    "epoch": "e",
                    "seq": 1,
                    "seen_at": 1.0,
                    "report": secrets.token_bytes(100_000),
                }
                for number in range(400)
            ]

            def much(connection: Connection) -> None:
                connection.execute(insert(latest), rows)

            failure = await failed(database.write(much, deadline_s=60))
            assert failure.full
            assert "make room" in failure.remedy
            grow()
            await database.write(partial(point, at=1))
            assert await database.read(count) == 1


async def test_one_without_a_connection_left_says_so(server: Server, postgres: Postgres) -> None:
    with opened_on(server) as database:
        postgres.sql(f"ALTER ROLE {server.user} CONNECTION LIMIT 0")
        end_sessions(postgres, server)
        failure = await failed(database.write(partial(point, at=1)))
        assert failure.reason == "busy"
        assert "max_connections" in failure.remedy
        postgres.sql(f"ALTER ROLE {server.user} CONNECTION LIMIT -1")
        await database.write(partial(point, at=1))


async def test_no_read_changes_anything(server: Server) -> None:
    with opened_on(server) as database:
        assert (await failed(database.read(partial(point, at=1)))).reason == "read_only"


async def test_a_value_that_no_column_holds_is_refused_for_good(server: Server) -> None:
    with opened_on(server) as database:
        row = {**NODE, "seq": 1 << 70, "touched_at": 0.0}
        with pytest.raises(ValueRefusedError):
            await database.write(
                lambda connection: connection.execute(insert(cursors), row).rowcount
            )


async def test_a_zero_byte_in_a_name_does_not_stop_a_stream(server: Server) -> None:
    with opened_on(server) as database:
        rows = [{"node": "a\0b", "epoch": "e", "seq": 1, "touched_at": 0.0}]
        for _ in range(2):
            await database.write(lambda connection: upsert(connection, cursors, rows))
        found = await database.read(lambda c: list(c.scalars(select(cursors.c.node))))
        assert found == ["a\ufffdb"]


async def test_brains_that_count_in_the_same_row_lose_nothing(server: Server) -> None:
    def one_more(connection: Connection) -> None:
        # As stores are written: read, decide, write. Alone it would lose counts.
        row = connection.execute(select(cursors.c.seq)).one_or_none()
        if row is None:
            connection.execute(insert(cursors).values(**NODE, seq=1, touched_at=0.0))
        else:
            connection.execute(update(cursors).values(seq=row.seq + 1))

    meter = MemoryMeter()
    with contextlib.ExitStack() as stack:
        brains = [stack.enter_context(opened_on(server, meter=meter)) for _ in range(4)]

        async def work(number: int) -> None:
            done = 0
            while done < 25:
                # A brain that lost all its tries says so, and its caller asks again.
                with contextlib.suppress(StoreUnavailableError):
                    await brains[number].write(one_more, deadline_s=30)
                    done += 1

        async with asyncio.TaskGroup() as tasks:
            for number in range(4):
                tasks.create_task(work(number))
        seq = select(cursors.c.seq)
        assert await brains[0].read(lambda connection: connection.scalar(seq)) == 100
    assert meter.value(names.DATABASE_CONFLICTS) > 0


def test_a_url_becomes_a_place_without_anything_secret() -> None:
    server = server_of("postgresql://me@db:6000/all?sslmode=verify-full", "/a/file")
    assert server.place == "postgresql://me@db:6000/all"
    assert server.options == {"sslmode": "verify-full"}


async def failed(job: object) -> StoreUnavailableError:
    with pytest.raises(StoreUnavailableError) as failure:
        await job  # type: ignore[misc]
    return failure.value


def end_sessions(postgres: Postgres, server: Server) -> None:
    """As a restart of the server does, for this database alone."""
    postgres.sql(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        f" WHERE datname = '{server.database}'"
    )


@contextlib.contextmanager
def holding(server: Server, statement: str) -> Iterator[None]:
    """Somebody else's session has run *statement* and has not ended its transaction."""
    engines = open_postgres(server)
    with engines.writing(60) as connection:
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.exec_driver_sql(statement)
        yield
    engines.close()
