"""A brain on a PostgreSQL that is slow, locked, cut off, full, read-only or without a connection left, one after the other, while
agents report: what it says, what it takes, and that nothing acknowledged is lost or doubled."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from nemutator_controller.database.postgres import Server

from tests.drill.watched_brain import TROUBLE_S, agents_of, suffered, untroubled
from tests.fakes.brain_processes import advice_of, brains_on, position
from tests.fakes.relays import Relay, relay_to
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database, settings_of
from tests.testbed.parts.postgres_disks import small_disk
from tests.testbed.running.ports import LOOPBACK

pytestmark = pytest.mark.timeout(3600)

STATEMENT_LATE_S = 2.0
LEARNED_WITHIN_S = 300.0
STATEMENTS = b"QPB"
"""The first byte of what a client asks PostgreSQL, as against how it signs in."""


@dataclass
class Bed:
    postgres: Postgres
    server: Server
    relay: Relay
    grow: Callable[[], object]

    def sql(self, statements: str) -> str:
        return self.postgres.sql(statements, database=self.server.database)

    def end_sessions(self) -> None:
        self.postgres.sql(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            f" WHERE datname = '{self.server.database}' AND usename = '{self.server.user}'"
        )

    @contextlib.asynccontextmanager
    async def slow(self) -> AsyncIterator[None]:
        self.relay.late, self.relay.late_s = STATEMENTS, STATEMENT_LATE_S
        yield
        self.relay.late_s = 0.0

    @contextlib.asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        server = f"host={LOOPBACK} port={self.postgres.port} dbname={self.server.database}"
        password = self.postgres.password.reveal()
        with psycopg.connect(server, user="postgres", password=password) as holder:
            holder.execute("LOCK TABLE history, cursors, latest IN ACCESS EXCLUSIVE MODE")
            yield

    @contextlib.asynccontextmanager
    async def cut_again_and_again(self) -> AsyncIterator[None]:
        async def cut() -> None:
            while True:
                self.relay.cut_all()
                await asyncio.sleep(random.uniform(0.05, 0.5))

        async with asyncio.TaskGroup() as tasks:
            cutting = tasks.create_task(cut())
            yield
            cutting.cancel()

    @contextlib.asynccontextmanager
    async def without_a_connection_left(self) -> AsyncIterator[None]:
        self.sql(f"ALTER ROLE {self.server.user} CONNECTION LIMIT 0")
        self.end_sessions()
        yield
        self.sql(f"ALTER ROLE {self.server.user} CONNECTION LIMIT -1")

    @contextlib.asynccontextmanager
    async def longer_than_a_statement_may_take(self) -> AsyncIterator[None]:
        self.sql(
            "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END';"
            "CREATE TRIGGER late BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION late()"
        )
        yield
        self.sql("DROP TRIGGER late ON history; DROP FUNCTION late()")

    @contextlib.asynccontextmanager
    async def read_only(self) -> AsyncIterator[None]:
        self.sql(f"ALTER ROLE {self.server.user} SET default_transaction_read_only = on")
        self.end_sessions()
        yield
        self.sql(f"ALTER ROLE {self.server.user} RESET default_transaction_read_only")

    @contextlib.asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        fills = (
            "INSERT INTO ballast SELECT repeat(md5(n::text), 100) FROM generate_series(1, 3000) n"
        )
        self.sql("CREATE TABLE ballast (x text); ALTER TABLE ballast ALTER x SET STORAGE EXTERNAL")
        with contextlib.suppress(Exception):
            while True:
                self.sql(fills)
        yield
        self.grow()

    @contextlib.asynccontextmanager
    async def silent(self) -> AsyncIterator[None]:
        """A server that still holds its connections, and answers nothing."""
        self.relay.late, self.relay.late_s = STATEMENTS, TROUBLE_S
        yield
        self.relay.late_s = 0.0


async def test_a_brain_outlives_all_that_its_database_may_do(
    postgres: Postgres, tmp_path: Path
) -> None:
    with small_disk(postgres, "64m") as (space, grow), new_database(postgres, tmp_path) as server:
        postgres.sql(f"ALTER DATABASE {server.database} SET TABLESPACE {space}")
        async with relay_to(f"tcp://{LOOPBACK}:{postgres.port}") as relay:
            port = int(relay.url.rpartition(":")[2])
            bed = Bed(postgres, server, relay, grow)
            settings = settings_of(replace(server, port=port))
            async with brains_on(tmp_path, 1, *settings) as [brain]:
                agents = agents_of("n")
                stop = asyncio.Event()
                async with asyncio.TaskGroup() as running:
                    for agent in agents:
                        running.create_task(agent.run([brain], stop))
                    await suffered(untroubled, brain, agents)
                    for trouble, words in (
                        (bed.slow, "did not answer in time"),
                        (bed.locked, "holds a lock"),
                        (bed.cut_again_and_again, "cannot be reached"),
                        (bed.without_a_connection_left, "all its connections are taken"),
                        (bed.longer_than_a_statement_may_take, "did not answer in time"),
                        (bed.read_only, "takes no writes"),
                        (bed.full, "no space left"),
                        (bed.silent, "did not answer in time"),
                    ):
                        await suffered(trouble, brain, agents, words)
                    stop.set()
                reports = sum(agent.acknowledged for agent in agents)
                for agent in agents:
                    assert await position(brain, agent.node) == agent.acknowledged
                kept = int(postgres.sql("SELECT count(*) FROM history", database=server.database))
                assert kept == reports
                await advice_of(brain, 3 * reports, within_s=LEARNED_WITHIN_S)
                print(f"{reports} reports acknowledged, all of them kept and learned once")
