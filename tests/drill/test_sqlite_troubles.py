"""A brain on SQLite whose file is locked, slow and moved away, on a full disk, and at last on one that the kernel makes read-only.

One after the other, while agents report: what it says, what it takes, and that nothing acknowledged is lost or doubled.
"""

import asyncio
import contextlib
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_common import names

from tests.drill.watched_brain import (
    PATIENCE_S,
    TROUBLE_S,
    agents_of,
    counted,
    problems,
    reported_again,
    suffered,
    untroubled,
)
from tests.e2e.standing import fill
from tests.fakes.brain_processes import Agent, BrainProcess, advice_of, position

pytestmark = [
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk"),
]

LEARNED_WITHIN_S = 300.0
LOCKED_S, FREE_S = 2.0, 0.2


@dataclass
class Disk:
    """A file system of its own in a file, which can lose its right to write as after an error of a disk."""

    image: Path
    folder: Path

    def mount(self) -> None:
        self._run("mount", "-o", "loop", self.image, self.folder)

    def abort(self) -> None:
        self._run("mount", "-o", "remount,abort", self.folder)

    def mend(self) -> None:
        self._run("umount", self.folder)
        # 1: errors were there, and are corrected.
        self._run("e2fsck", "-p", self.image, fine=(0, 1))
        self.mount()

    def _run(self, *command: str | Path, fine: tuple[int, ...] = (0,)) -> None:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode in fine, ran.stderr


@contextlib.contextmanager
def disk_in(folder: Path) -> Iterator[Disk]:
    disk = Disk(folder / "disk.img", folder / "disk")
    disk.folder.mkdir()
    with disk.image.open("wb") as image:
        image.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", disk.image], check=True, timeout=60)
    disk.mount()
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk.folder], check=True, timeout=60)


@dataclass
class Bed:
    disk: Disk

    @property
    def database(self) -> Path:
        return self.disk.folder / "brain" / "nemutator.db"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        with contextlib.closing(sqlite3.connect(self.database, isolation_level=None)) as other:
            other.execute("PRAGMA busy_timeout = 60000")
            other.execute("BEGIN IMMEDIATE")
            yield

    @contextlib.asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        with self.lock():
            yield

    @contextlib.asynccontextmanager
    async def slow(self) -> AsyncIterator[None]:
        """Each write waits for another program, which is done now and then."""

        async def hold() -> None:
            while True:
                with self.lock():
                    await asyncio.sleep(LOCKED_S)
                await asyncio.sleep(FREE_S)

        async with asyncio.TaskGroup() as tasks:
            holding = tasks.create_task(hold())
            yield
            holding.cancel()

    @contextlib.asynccontextmanager
    async def moved_away(self) -> AsyncIterator[None]:
        away = self.database.with_name("away.db")
        self.database.rename(away)
        yield
        away.rename(self.database)

    @contextlib.asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        ballast = fill(self.disk.folder)
        yield
        ballast.unlink()


async def test_a_brain_outlives_all_that_its_file_may_meet(tmp_path: Path) -> None:
    with disk_in(tmp_path) as disk:
        bed = Bed(disk)
        brain = BrainProcess(disk.folder / "brain", (), logs=tmp_path)
        await brain.start()
        try:
            await brain.ready()
            agents = agents_of("n")
            async with reporting(agents, brain):
                await suffered(untroubled, brain, agents)
                for trouble, words in (
                    (bed.locked, "holds a lock"),
                    (bed.slow, ""),
                    (bed.moved_away, "moved or deleted"),
                    (bed.full, "no space left"),
                ):
                    await suffered(trouble, brain, agents, words)
            reports = sum(agent.acknowledged for agent in agents)
            await advice_of(brain, 3 * reports, within_s=LEARNED_WITHIN_S)
            # From here on the brain is killed, and what it has learned since its last save is not in its advice.
            async with reporting(agents, brain):
                await read_only(disk, brain, agents)
            for agent in agents:
                assert await position(brain, agent.node) == agent.acknowledged
            reports = sum(agent.acknowledged for agent in agents)
            assert kept_in(bed.database) == reports
            print(f"{reports} reports acknowledged, all of them kept once")
        finally:
            await brain.kill()


@contextlib.asynccontextmanager
async def reporting(agents: list[Agent], brain: BrainProcess) -> AsyncIterator[None]:
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as running:
        for agent in agents:
            running.create_task(agent.run([brain], stop))
        yield
        stop.set()


def kept_in(database: Path) -> int:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        [[count]] = connection.execute("SELECT count(*) FROM history")
    return int(count)


async def read_only(disk: Disk, brain: BrainProcess, agents: list[Agent]) -> None:
    """As the kernel makes a disk that has failed; then somebody checks it, and starts the brain again."""
    disk.abort()
    said: set[str] = set()
    async with asyncio.timeout(PATIENCE_S):
        while not any("reading or writing it failed" in one for one in said):
            said |= await problems(brain)
            await asyncio.sleep(0.1)
    had = sum(agent.acknowledged for agent in agents)
    await asyncio.sleep(TROUBLE_S)
    assert sum(agent.acknowledged for agent in agents) == had
    print(
        f"read_only: counted {await counted(brain, names.DATABASE_FAILURES.name)}, said {sorted(said)}"
    )
    await brain.kill()
    disk.mend()
    await brain.start()
    await brain.ready()
    await reported_again(agents)
