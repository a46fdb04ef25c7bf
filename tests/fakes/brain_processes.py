"""Brains as processes of their own on one database, and agents that report to whichever of them answers."""

import asyncio
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout, UnixConnector
from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token
from nemutator_common.errors import ExitCode
from nemutator_common.wire import REPORTS_PATH, Batch, Envelope, Summary

from tests.fakes.batches import busy_report

START_S = 600.0
CALL_S = 20.0
STEP_S = 15.0


@dataclass
class BrainProcess:
    """One brain, which can be killed and started again under the same name."""

    data: Path
    settings: Sequence[str]
    process: asyncio.subprocess.Process | None = None
    client: ClientSession | None = None
    lives: int = 0
    logs: Path | None = None
    """Where it writes its logs, if not beside its data."""

    @property
    def directory(self) -> DataDirectory:
        return DataDirectory(self.data)

    async def start(self) -> None:
        self.lives += 1
        directory = prepare(self.data)
        if not directory.link_token.exists():
            renew_link_token(directory)
        with self._log.open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nemutator_controller", "brain",
                f"--data-dir={self.data}", "--console=127.0.0.1:0", *self.settings,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        token = read_link_token(directory).reveal()
        self.client = ClientSession(
            "http://localhost",
            connector=UnixConnector(str(directory.socket(names.BRAIN))),
            headers={"Authorization": f"Bearer {token}"},
            timeout=ClientTimeout(total=CALL_S),
        )

    async def ready(self) -> None:
        assert await self.became_ready(), self.log()

    async def became_ready(self) -> bool:
        """Wait until it answers; False when it has ended instead."""
        assert self.process is not None
        async with asyncio.timeout(START_S):
            while not await self.answers():
                if self.process.returncode is not None:
                    return False
                await asyncio.sleep(0.1)
        return True

    @property
    def ended_for_want_of_a_database(self) -> bool:
        return self.process is not None and self.process.returncode == ExitCode.UNREACHABLE

    async def answers(self) -> bool:
        assert self.client is not None
        try:
            async with self.client.get("/healthz") as answer:
                return answer.status == 200
        except (ClientError, OSError, TimeoutError):
            return False

    async def get(self, path: str) -> Any:
        assert self.client is not None
        async with self.client.get(path) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def kill(self) -> None:
        """Without a word, in whatever it is doing."""
        assert self.process is not None
        assert self.client is not None
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self.client.close()

    def log(self) -> str:
        return self._log.read_text()[-4000:]

    @property
    def _log(self) -> Path:
        return (self.logs or self.data) / f"life-{self.lives:03}.log"


@contextlib.asynccontextmanager
async def brains_on(folder: Path, count: int, *settings: str) -> AsyncIterator[list[BrainProcess]]:
    """*count* ready brains; all are killed at the end."""
    brains = [BrainProcess(folder / f"brain-{number}", settings) for number in range(count)]
    for brain in brains:
        await brain.start()
    try:
        for brain in brains:
            await brain.ready()
        yield brains
    finally:
        for brain in brains:
            await brain.kill()


@dataclass
class Agent:
    """Sends its reports one after the other, each until some brain has acknowledged it."""

    node: str
    dice: random.Random
    began_at: float
    pace_s: float = 0.0
    """Between two reports."""
    acknowledged: int = 0
    longest_silence_s: float = 0.0
    """Between two acknowledgements."""
    repeated: int = 0
    sent: list[Batch] = field(default_factory=list)

    async def run(self, brains: Sequence[BrainProcess], stop: asyncio.Event) -> None:
        at = self.dice.randrange(len(brains))
        last = time.monotonic()
        while not stop.is_set():
            batch = self.batch(self.acknowledged + 1)
            while not await self.deliver(brains[at % len(brains)], batch):
                # As agents do: the next connection goes to another brain.
                at += 1
                self.repeated += 1
                await asyncio.sleep(self.dice.uniform(0.05, 0.2))
            self.sent.append(batch)
            self.acknowledged += 1
            now = time.monotonic()
            self.longest_silence_s = max(self.longest_silence_s, now - last)
            last = now
            await asyncio.sleep(self.pace_s)

    def batch(self, seq: int) -> Batch:
        to_at = self.began_at + STEP_S * seq
        summaries = tuple(
            Summary(
                path=f"/cluster/{owner}",
                pod_uid=None,
                container_id=None,
                from_at=to_at - STEP_S,
                to_at=to_at,
                cpu_cores=self.dice.uniform(0.01, 2.0),
                memory_bytes=self.dice.randrange(1 << 20, 1 << 32),
            )
            for owner in self.dice.sample(["web", "api", "db", "cache", "queue"], 3)
        )
        # Each at a moment of its own: points of history of one moment are one.
        report = replace(busy_report(time.time()), summaries=summaries)
        return Batch(self.node, "e1", (Envelope(seq, report),))

    async def deliver(self, brain: BrainProcess, batch: Batch) -> bool:
        if brain.client is None or brain.client.closed:
            return False
        try:
            async with brain.client.post(REPORTS_PATH, data=msgspec.json.encode(batch)) as answer:
                return (
                    answer.status == 200 and (await answer.json())["seq"] >= batch.envelopes[-1].seq
                )
        except (ClientError, OSError, RuntimeError, TimeoutError):
            return False


async def advice_of(brain: BrainProcess, points: int, *, within_s: float) -> list[dict[str, Any]]:
    """All advice, once *points* have been learned; what depends on the moment is left out."""
    known = -1
    try:
        async with asyncio.timeout(within_s):
            while True:
                items = (await brain.get("/api/v1/advice"))["items"]
                known = sum(item["points"] for item in items)
                assert known <= points, f"{known} points are known of {points}: some twice"
                if known == points:
                    return sorted(items, key=lambda item: str(item["owner"]))
                await asyncio.sleep(0.5)
    except TimeoutError:
        raise AssertionError(f"{known} points are known of {points}") from None


async def position(brain: BrainProcess, node: str) -> int:
    return int((await brain.get(f"/uplink/v1/reports?node={node}&epoch=e1"))["seq"])


def decisions(advice: Sequence[dict[str, Any]]) -> list[object]:
    return [
        [item[key] for key in ("namespace", "owner", "points", "state", "requests", "limits")]
        for item in advice
    ]


async def replayed(agents: Sequence[Agent], alone: BrainProcess) -> None:
    """All that *agents* had acknowledged goes to one brain with a database of its own, once."""

    async def again(agent: Agent) -> None:
        for batch in agent.sent:
            assert await agent.deliver(alone, batch), f"{agent.node} was refused: {alone.log()}"

    async with asyncio.TaskGroup() as tasks:
        for agent in agents:
            tasks.create_task(again(agent))
