"""A brain on a PostgreSQL that is slow, locked, cut off, full, read-only or without a connection left, one after the other, while
agents report: what it says, what it takes, and that nothing acknowledged is lost or doubled."""

import asyncio
import contextlib
import os
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import psycopg
import pytest
from nemutator_common import names
from nemutator_controller.database.postgres import Server

from tests.fakes.brain_processes import Agent, BrainProcess, advice_of, brains_on, position
from tests.fakes.relays import Relay, relay_to
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database, settings_of
from tests.testbed.parts.postgres_disks import small_disk
from tests.testbed.running.ports import LOOPBACK

pytestmark = pytest.mark.timeout(3600)

TROUBLE_S = float(os.environ.get("DRILL_TROUBLE_S", "60"))
STATEMENT_LATE_S = 2.0
AGENTS, PACE_S = 8, 0.5
PATIENCE_S = 300.0
LEARNED_WITHIN_S = 300.0
STATEMENTS = b"QPB"
"""The first byte of what a client asks PostgreSQL, as against how it signs in."""
MORE_MEMORY_BYTES = 64 << 20
HELD_BUCKET = f'{names.LOOP_HELD.name}_bucket{{le="0.1"}}'
HELD_COUNT = f"{names.LOOP_HELD.name}_count"


@dataclass
class Watched:
    """What the brain said and took during one trouble."""

    brain: BrainProcess
    slowest_s: float = 0.0
    """Of answers that need no database."""
    said: set[str] = field(default_factory=set)
    most_bytes: int = 0

    async def watch(self) -> None:
        assert self.brain.process is not None
        process = psutil.Process(self.brain.process.pid)
        while True:
            begun = time.monotonic()
            await self.brain.get("/api/v1/nodes")
            self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
            self.said |= await problems(self.brain)
            self.most_bytes = max(self.most_bytes, process.memory_info().rss)
            await asyncio.sleep(0.5)


async def problems(brain: BrainProcess) -> set[str]:
    assert brain.client is not None
    async with brain.client.get("/readyz", headers={"Accept": "application/json"}) as answer:
        return set() if answer.status == 200 else {(await answer.text()).strip()[:200]}


async def counted(brain: BrainProcess, wanted: str) -> dict[str, float]:
    assert brain.client is not None
    async with brain.client.get("/metrics") as answer:
        rows = [line.rpartition(" ") for line in (await answer.text()).splitlines()]
    return {name: float(value) for name, _, value in rows if name.startswith(wanted)}


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
                agents = [
                    Agent(f"n{number}", random.Random(number), time.time() - 86_400, PACE_S)
                    for number in range(AGENTS)
                ]
                stop = asyncio.Event()
                async with asyncio.TaskGroup() as running:
                    for agent in agents:
                        running.create_task(agent.run([brain], stop))
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


async def suffered(
    trouble: Callable[[], contextlib.AbstractAsyncContextManager[None]],
    brain: BrainProcess,
    agents: list[Agent],
    words: str,
) -> None:
    await reported_again(agents)
    assert brain.process is not None
    memory = psutil.Process(brain.process.pid).memory_info().rss
    failures = await counted(brain, names.DATABASE_FAILURES.name)
    held = await held_long(brain)
    watched = Watched(brain)
    had = sum(agent.acknowledged for agent in agents)
    async with asyncio.TaskGroup() as watching:
        looking = watching.create_task(watched.watch())
        async with trouble():
            await asyncio.sleep(TROUBLE_S)
        during = sum(agent.acknowledged for agent in agents) - had
        ended_at = time.monotonic()
        await reported_again(agents)
        again_s = time.monotonic() - ended_at
        looking.cancel()
    async with asyncio.timeout(PATIENCE_S):
        while await problems(brain):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.2)
    after = await counted(brain, names.DATABASE_FAILURES.name)
    new = {
        name.partition("{")[2].rstrip("}"): after[name] - failures.get(name, 0.0)
        for name in after
        if name.partition("{")[0].endswith("_total") and after[name] > failures.get(name, 0.0)
    }
    print(
        f"{trouble.__name__}: {during} acknowledged meanwhile, all report again after {again_s:.1f} s, "
        f"slowest answer without a database {watched.slowest_s:.2f} s, "
        f"{await held_long(brain) - held:.0f} holds of the loop over 0.1 s, "
        f"{(watched.most_bytes - memory) / (1 << 20):.0f} MiB more memory, counted {new}, "
        f"said {sorted(watched.said)}"
    )
    assert any(words in said for said in watched.said), watched.said
    assert watched.most_bytes - memory < MORE_MEMORY_BYTES


async def held_long(brain: BrainProcess) -> float:
    all_of_it = await counted(brain, names.LOOP_HELD.name)
    return all_of_it[HELD_COUNT] - all_of_it[HELD_BUCKET]


async def reported_again(agents: list[Agent]) -> None:
    """Until each has heard of three more of its reports."""
    wanted = [agent.acknowledged + 3 for agent in agents]
    async with asyncio.timeout(PATIENCE_S):
        while any(  # noqa: ASYNC110 - the agents only count
            agent.acknowledged < each for agent, each in zip(agents, wanted, strict=True)
        ):
            await asyncio.sleep(0.05)
