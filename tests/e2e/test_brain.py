"""The brain as a process of its own: killed in the middle, stopped, and on a full disk."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
from aiohttp import ClientError, ClientSession, ClientTimeout, UnixConnector
from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token
from nemutator_common.errors import ExitCode
from nemutator_common.wire import REPORTS_PATH, Batch

from tests.fakes.batches import batch

STOP_S = 60.0
KILLS = 5


@contextlib.asynccontextmanager
async def process(
    directory: DataDirectory,
) -> AsyncIterator[tuple[subprocess.Popen[bytes], ClientSession]]:
    """A brain that answers, and a caller with its token; killed at the end if it still runs."""
    with started(directory) as brain:
        try:
            token = read_link_token(directory).reveal()
            async with ClientSession(
                "http://localhost",
                connector=UnixConnector(str(directory.socket(names.BRAIN))),
                headers={"Authorization": f"Bearer {token}"},
                timeout=ClientTimeout(total=60),
            ) as client:
                await until_healthy(client)
                yield brain, client
        finally:
            brain.kill()


def started(directory: DataDirectory) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "nemutator_controller", "brain", "--lifeline"]
    command += ["--data-dir", str(directory.root), "--console", "127.0.0.1:0"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


async def until_healthy(client: ClientSession) -> None:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(OSError, ClientError):
                async with client.get("/healthz") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.02)


async def post(client: ClientSession, given: Batch) -> int:
    async with client.post(REPORTS_PATH, data=msgspec.json.encode(given)) as answer:
        assert answer.status == 200
        return int((await answer.json())["seq"])


async def moments(client: ClientSession, base: float) -> list[int]:
    async with client.get("/api/v1/history?node=n1&since_s=86400") as answer:
        return [round(point["at"] - base) for point in (await answer.json())["points"]]


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    prepared = prepare(tmp_path / "data")
    renew_link_token(prepared)
    return prepared


async def test_a_killed_brain_loses_and_doubles_nothing(directory: DataDirectory) -> None:
    base = time.time() - 3600
    acknowledged = 0
    for _ in range(KILLS):
        async with process(directory) as (brain, client), asyncio.TaskGroup() as group:
            # Everything since the last known ack is sent again, as an agent does.
            enough = asyncio.Event()

            async def report(
                client: ClientSession = client,
                wanted: int = acknowledged + 20,
                enough: asyncio.Event = enough,
            ) -> None:
                nonlocal acknowledged
                with contextlib.suppress(ClientError, OSError):
                    while True:
                        numbers = range(max(1, acknowledged - 2), acknowledged + 3)
                        acknowledged = await post(client, batch(numbers, at=base))
                        if acknowledged >= wanted:
                            enough.set()

            task = group.create_task(report())
            async with asyncio.timeout(60):
                await enough.wait()
            brain.send_signal(signal.SIGKILL)
            await task
    async with process(directory) as (_, client):
        async with client.get(f"{REPORTS_PATH}?node=n1&epoch=e1") as answer:
            stored = (await answer.json())["seq"]
        assert stored >= acknowledged >= 20 * KILLS
        assert await moments(client, base) == list(range(stored))


@pytest.mark.parametrize("how", ["signal", "lifeline"])
async def test_it_stops_at_once_and_leaves_nothing(directory: DataDirectory, how: str) -> None:
    async with process(directory) as (brain, client):
        await post(client, batch((1, 2), at=time.time() - 9))
        if how == "signal":
            brain.send_signal(signal.SIGTERM)
        else:
            assert brain.stdin is not None
            brain.stdin.close()
        assert await asyncio.to_thread(brain.wait, STOP_S) == 0
    assert {file.name for file in directory.root.iterdir()} == {"link-token", "nemutator.db"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    where = tmp_path / "disk"
    where.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(where)], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this container may not mount")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
    return ballast


async def test_a_full_disk_is_survived_named_and_recovered_from(small_disk: Path) -> None:
    directory = prepare(small_disk / "data")
    renew_link_token(directory)
    base = time.time() - 3600
    async with process(directory) as (_, client):
        last = await post(client, batch((1,), at=base))
        ballast = fill(small_disk)
        refused = 0
        for _ in range(400):
            given = batch((last + 1,), at=base)
            async with client.post(REPORTS_PATH, data=msgspec.json.encode(given)) as answer:
                if answer.status == 200:
                    last += 1
                    continue
                assert answer.status == 503
                assert answer.headers["Retry-After"]
                refused += 1
            if refused == 3:
                break
        assert refused == 3
        async with client.get("/readyz") as answer:
            assert answer.status == 503
            assert "database" in await answer.text()
        async with client.get("/api/v1/topology") as answer:
            assert [node["stale"] for node in (await answer.json())["nodes"]] == [False]
        ballast.unlink()
        assert await post(client, batch((last + 1,), at=base)) == last + 1
        async with client.get("/readyz") as answer:
            assert answer.status == 200
        assert (await moments(client, base))[-1] == last
        # What is killed while there is no room says so when it starts again, and that waiting helps: nobody else has to end.
        fill(small_disk)
    with started(directory) as without_room:
        assert await asyncio.to_thread(without_room.wait, 60) == ExitCode.NO_SPACE
    ballast.unlink()
    async with process(directory) as (_, client):
        assert await post(client, batch((last + 1,), at=base)) == last + 1
