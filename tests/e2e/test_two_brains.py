"""Two brains on the real PostgreSQL under load; one is killed. Nothing acknowledged is lost, and agents go on."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fakes.brain_processes import Agent, advice_of, brains_on, decisions, position, replayed
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database, settings_of

AGENTS = 8
BEFORE, AFTER = 40, 60
"""Reports of each agent before the kill and after it."""
LOAD_WITHIN_S = 120.0
GOES_ON_WITHIN_S = 60.0
"""Of two brains that do nothing else it takes 15 s at most; the rest is for a busy machine."""
LEARNED_WITHIN_S = 120.0


async def test_one_of_two_is_killed_under_load(postgres: Postgres, tmp_path: Path) -> None:
    with new_database(postgres, tmp_path) as server:
        async with brains_on(tmp_path, 2, *settings_of(server)) as brains:
            agents = [
                Agent(f"n{number}", random.Random(number), time.time() - 86_400)
                for number in range(AGENTS)
            ]
            stop = asyncio.Event()
            async with asyncio.TaskGroup() as running:
                for agent in agents:
                    running.create_task(agent.run(brains, stop))
                await until_each_has(agents, [BEFORE] * AGENTS)
                # The first one learns: it came first. So what it knew has to be found again, too.
                await brains[0].kill()
                before = [agent.acknowledged for agent in agents]
                await until_each_has(agents, [was + AFTER for was in before])
                stop.set()
            left = brains[1]
            reports = sum(agent.acknowledged for agent in agents)
            longest = max(agent.longest_silence_s for agent in agents)
            assert longest < GOES_ON_WITHIN_S, f"an agent heard nothing for {longest:.1f} s"
            for agent in agents:
                assert await position(left, agent.node) == agent.acknowledged
            kept = postgres.sql("SELECT count(*) FROM history", database=server.database)
            assert int(kept) == reports
            advice = await advice_of(left, 3 * reports, within_s=LEARNED_WITHIN_S)
        async with brains_on(tmp_path / "alone", 1) as [alone]:
            await replayed(agents, alone)
            assert decisions(await advice_of(alone, 3 * reports, within_s=60)) == decisions(advice)


async def until_each_has(agents: Sequence[Agent], reports: Sequence[int]) -> None:
    """Until so many reports of each agent are acknowledged."""
    async with asyncio.timeout(LOAD_WITHIN_S):
        while any(  # noqa: ASYNC110 - the agents only count
            agent.acknowledged < wanted for agent, wanted in zip(agents, reports, strict=True)
        ):
            await asyncio.sleep(0.05)
