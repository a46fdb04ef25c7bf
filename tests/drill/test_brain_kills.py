"""Four brains on one PostgreSQL are killed two hundred times under load: no acknowledged report is lost or
counted twice, and the advice is that of one brain that got the same reports."""

import asyncio
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.brain_processes import (
    Agent,
    BrainProcess,
    advice_of,
    brains_on,
    decisions,
    position,
    replayed,
)
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database, settings_of

KILLS = int(os.environ.get("DRILL_KILLS", "200"))
LONGEST_S = 60 * float(os.environ.get("DRILL_MINUTES", "60"))
"""Where that is not enough for all kills, the report says how many there were."""
BRAINS, AGENTS = 4, 12
BETWEEN_S = (0.2, 2.0)
PACE_S = 0.2
"""Between two reports of an agent: more would leave no processor for what starts again."""
LEARNED_WITHIN_S = 600.0
HOURS_S = 2 * 3600


async def kill_again_and_again(brains: Sequence[BrainProcess], dice: random.Random) -> int:
    """How many kills there were. One brain at least stays up, so that the load goes on."""
    ends_at, kills = time.monotonic() + LONGEST_S, 0
    async with asyncio.TaskGroup() as tasks:
        busy: set[str] = set()

        async def again(brain: BrainProcess) -> None:
            await brain.kill()
            await brain.start()
            while not await brain.became_ready():
                # As a busy database makes it, and as kubelet does.
                assert brain.ended_for_want_of_a_database, brain.log()
                await brain.start()
            busy.discard(str(brain.data))

        while kills < KILLS and time.monotonic() < ends_at:
            up = [brain for brain in brains if str(brain.data) not in busy]
            if len(up) > 1:
                victim = dice.choice(up)
                busy.add(str(victim.data))
                tasks.create_task(again(victim))
                kills += 1
            await asyncio.sleep(dice.uniform(*BETWEEN_S))
    return kills


@pytest.mark.timeout(HOURS_S)
async def test_four_brains_are_killed_again_and_again(postgres: Postgres, tmp_path: Path) -> None:
    seed = int(os.environ.get("DRILL_SEED", time.time_ns() % 10**9))
    dice = random.Random(seed)
    with new_database(postgres, tmp_path) as server:
        async with brains_on(tmp_path, BRAINS, *settings_of(server)) as brains:
            agents = [
                Agent(f"n{number}", random.Random(seed + number), time.time() - 10 * 86_400, PACE_S)
                for number in range(AGENTS)
            ]
            stop = asyncio.Event()
            async with asyncio.TaskGroup() as running:
                for agent in agents:
                    running.create_task(agent.run(brains, stop))
                kills = await kill_again_and_again(brains, dice)
                stop.set()
            reports = sum(agent.acknowledged for agent in agents)
            repeated = sum(agent.repeated for agent in agents)
            longest = max(agent.longest_silence_s for agent in agents)
            for agent in agents:
                assert await position(brains[0], agent.node) == agent.acknowledged
            kept = int(postgres.sql("SELECT count(*) FROM history", database=server.database))
            advice = await advice_of(brains[0], 3 * reports, within_s=LEARNED_WITHIN_S)
            generation = postgres.sql("SELECT generation FROM claims", database=server.database)
        print(
            f"seed {seed}: {kills} kills, {reports} reports acknowledged, {repeated} sent again,"
            f" {generation} learners, longest silence of an agent {longest:.1f} s"
        )
        assert kept == reports
        async with brains_on(tmp_path / "alone", 1) as [alone]:
            await replayed(agents, alone)
            alone_advice = await advice_of(alone, 3 * reports, within_s=60)
    assert decisions(alone_advice) == decisions(advice)
