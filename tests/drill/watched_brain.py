"""What a brain says and takes while its database is in trouble, and what becomes of those who report to it."""

import asyncio
import contextlib
import os
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import psutil
from nemutator_common import names

from tests.fakes.brain_processes import Agent, BrainProcess

TROUBLE_S = float(os.environ.get("DRILL_TROUBLE_S", "60"))
AGENTS, PACE_S = 8, 0.5
PATIENCE_S = 300.0
MORE_MEMORY_BYTES = 64 << 20

Trouble = Callable[[], contextlib.AbstractAsyncContextManager[None]]


@contextlib.asynccontextmanager
async def untroubled() -> AsyncIterator[None]:
    """What the same brain on the same machine does otherwise: beside it the others are read."""
    yield


@dataclass
class Watched:
    """What the brain said and took during one trouble."""

    brain: BrainProcess
    slowest_s: float = 0.0
    """Of answers that need no database."""
    said: set[str] = field(default_factory=set)
    most_bytes: int = 0

    async def watch(self) -> None:
        process = process_of(self.brain)
        while True:
            begun = time.monotonic()
            await self.brain.get("/api/v1/nodes")
            self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
            self.said |= await problems(self.brain)
            self.most_bytes = max(self.most_bytes, process.memory_info().rss)
            await asyncio.sleep(0.5)


def agents_of(prefix: str) -> list[Agent]:
    return [
        Agent(f"{prefix}{number}", random.Random(number), time.time() - 86_400, PACE_S)
        for number in range(AGENTS)
    ]


def process_of(brain: BrainProcess) -> psutil.Process:
    assert brain.process is not None
    return psutil.Process(brain.process.pid)


async def problems(brain: BrainProcess) -> set[str]:
    assert brain.client is not None
    async with brain.client.get("/readyz", headers={"Accept": "application/json"}) as answer:
        return set() if answer.status == 200 else {(await answer.text()).strip()[:200]}


async def counted(brain: BrainProcess, wanted: str) -> dict[str, float]:
    assert brain.client is not None
    async with brain.client.get("/metrics") as answer:
        rows = [line.rpartition(" ") for line in (await answer.text()).splitlines()]
    return {name: float(value) for name, _, value in rows if name.startswith(wanted)}


async def holds(brain: BrainProcess) -> dict[float, float]:
    """How often the loop was held for up to so many seconds, and no less than the bound before."""
    rows = await counted(brain, f"{names.LOOP_HELD.name}_bucket")
    found, before = {}, 0.0
    for row, count in rows.items():
        [bound] = re.findall(r'le="(.*)"', row)
        found[float(bound)], before = count - before, count
    return found


def told_holds(before: Mapping[float, float], after: Mapping[float, float]) -> str:
    new = {bound: after[bound] - before[bound] for bound in after}
    longest = max((bound for bound, count in new.items() if count), default=0.0)
    often = [sum(n for bound, n in new.items() if bound > above) for above in (0.1, 0.25, 0.5)]
    return (
        f"the loop was held for {longest} s at most, {often[0]:.0f} times over 0.1 s,"
        f" {often[1]:.0f} over 0.25 s, {often[2]:.0f} over 0.5 s"
    )


async def suffered(
    trouble: Trouble, brain: BrainProcess, agents: Sequence[Agent], words: str = ""
) -> None:
    """Let *brain* have *trouble* for a while, in which it must say *words*, and wait until all is well again."""
    await reported_again(agents)
    process = process_of(brain)
    memory = process.memory_info().rss
    failures = await counted(brain, names.DATABASE_FAILURES.name)
    held, cpu = await holds(brain), sum(process.cpu_times()[:2])
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
    took_s = sum(process.cpu_times()[:2]) - cpu
    held_now = await holds(brain)
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
        f"{told_holds(held, held_now)}, {took_s:.1f} s of CPU, "
        f"{(watched.most_bytes - memory) / (1 << 20):.0f} MiB more memory, counted {new}, "
        f"said {sorted(watched.said)}"
    )
    if words:
        assert any(words in said for said in watched.said), watched.said
        assert new, "nothing was counted"
    assert watched.most_bytes - memory < MORE_MEMORY_BYTES


async def reported_again(agents: Sequence[Agent]) -> None:
    """Until each has heard of three more of its reports."""
    wanted = [agent.acknowledged + 3 for agent in agents]
    async with asyncio.timeout(PATIENCE_S):
        while any(  # noqa: ASYNC110 - the agents only count
            agent.acknowledged < each for agent, each in zip(agents, wanted, strict=True)
        ):
            await asyncio.sleep(0.05)
