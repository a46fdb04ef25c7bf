"""`nemutator-agent observe` as a process, with a brain that follows wire.py and real programs."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import msgspec
import pytest
from aiohttp import web
from nemutator_common.data_directory_files import prepare, renew_link_token
from nemutator_common.wire import REPORTS_PATH, Ack, Batch, Report

from tests.e2e.ordinary import NOBODY
from tests.processes import alive, children, own_memory

PATIENCE_S = 60.0
GO = shutil.which("go")

BUILDS = {
    "plain": [],
    "stripped": ["-ldflags=-s -w"],
    "pie": ["-buildmode=pie"],
}


@dataclass
class Brain:
    """Stores in memory; the tests wait for what they expect to be told."""

    token: str
    numbers: list[int] = field(default_factory=list)
    epochs: set[str] = field(default_factory=set)
    report: Report | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            raise web.HTTPUnauthorized
        if request.method == "GET":
            last = self.numbers[-1] if self.numbers else 0
            return web.Response(body=msgspec.json.encode(Ack(request.query["epoch"], last)))
        batch = msgspec.json.decode(await request.read(), type=Batch)
        async with self.changed:
            self.epochs.add(batch.epoch)
            self.numbers += [one.seq for one in batch.envelopes]
            self.report = batch.envelopes[-1].report
            self.changed.notify_all()
        return web.Response(body=msgspec.json.encode(Ack(batch.epoch, self.numbers[-1])))

    async def told(self, pid: int, runtime: str) -> Report:
        """The first report in which that process has that runtime."""

        def known() -> bool:
            processes = self.report.processes if self.report else ()
            return any((one.pid, one.runtime) == (pid, runtime) for one in processes)

        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(known)
        assert self.report is not None
        return self.report

    async def heard(self, reports: int) -> None:
        async with asyncio.timeout(PATIENCE_S), self.changed:
            await self.changed.wait_for(lambda: len(self.numbers) >= reports)

    @contextlib.asynccontextmanager
    async def serving(self, folder: Path) -> AsyncIterator[None]:
        app = web.Application(client_max_size=16 << 20)
        app.router.add_route("*", REPORTS_PATH, self.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.UnixSite(runner, str(folder / "brain.sock")).start()
        try:
            yield
        finally:
            await runner.cleanup()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    directory = prepare(tmp_path / "data")
    renew_link_token(directory)
    return directory.root


def brain_of(folder: Path) -> Brain:
    return Brain((folder / "link-token").read_text())


@contextlib.asynccontextmanager
async def observing(
    folder: Path, *flags: str, python: str | Path = sys.executable, uid: int | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        python, "-m", "nemutator_agent", "observe", "--data-dir", str(folder),
        "--interval-s", "0.5", "--lifeline", *flags,
        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, user=uid, group=uid,
        extra_groups=None if uid is None else [],
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ended(process: asyncio.subprocess.Process) -> int:
    async with asyncio.timeout(PATIENCE_S):
        return await process.wait()


@contextlib.contextmanager
def running(*command: str | Path, uid: int | None = None) -> Iterator[int]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, user=uid) as process:
        try:
            yield process.pid
        finally:
            process.kill()


async def ask(folder: Path, path: str) -> tuple[int, str]:
    connector = aiohttp.UnixConnector(str(folder / "observe.sock"))
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.get(f"http://observe{path}") as response,
    ):
        return response.status, await response.text()


async def test_a_machine_is_reported_and_the_process_stops_at_once(folder: Path) -> None:
    brain = brain_of(folder)
    async with brain.serving(folder), observing(folder) as observe:
        report = await brain.told(os.getpid(), "python")
        assert report.machine.memory_bytes > report.machine.memory_used_bytes > 0
        own = next(one for one in report.processes if one.pid == os.getpid())
        assert own.workload in {workload.path for workload in report.workloads}
        assert (await ask(folder, "/readyz"))[0] == 200
        assert "nemutator_usage_snapshots_total" in (await ask(folder, "/metrics"))[1]
        workers = children(observe.pid)
        assert workers
        assert own_memory(observe.pid) + sum(map(own_memory, workers)) < 64 << 20
        observe.terminate()
        assert await ended(observe) == 0
    assert "observe.sock" not in os.listdir(folder)
    assert not alive(workers)


async def test_it_ends_with_its_lifeline(folder: Path) -> None:
    brain = brain_of(folder)
    async with brain.serving(folder), observing(folder) as observe:
        await brain.heard(1)
        assert observe.stdin is not None
        observe.stdin.close()
        assert await ended(observe) == 0


async def test_after_the_brain_was_away_nothing_is_missing_or_twice(folder: Path) -> None:
    brain = brain_of(folder)
    async with observing(folder):
        async with brain.serving(folder):
            await brain.heard(2)
        status, reasons = 200, ""
        async with asyncio.timeout(PATIENCE_S):
            while status == 200:
                status, reasons = await ask(folder, "/readyz")
        assert "brain.sock" in reasons
        heard = len(brain.numbers)
        async with brain.serving(folder):
            await brain.heard(heard + 2)
    assert brain.numbers == list(range(1, len(brain.numbers) + 1))
    assert len(brain.epochs) == 1


@pytest.mark.skipif(GO is None, reason="Go is not installed here")
@pytest.mark.parametrize("build", [*BUILDS, "headless"])
async def test_a_go_program_is_known_however_it_was_built(
    folder: Path, tmp_path: Path, build: str
) -> None:
    program = built(tmp_path, build)
    brain = brain_of(folder)
    async with brain.serving(folder), observing(folder):
        with running(program) as pid:
            report = await brain.told(pid, "go")
    (found,) = (one for one in report.processes if one.pid == pid)
    assert found.runtime_version is not None
    assert found.runtime_version.startswith("go1.")


def built(folder: Path, build: str) -> Path:
    """A Go program that waits; `headless` has no section headers any more."""
    source, program = folder / "main.go", folder / "main"
    source.write_text(
        'package main\n\nimport "os"\n\nfunc main() { os.Stdin.Read(make([]byte, 1)) }\n'
    )
    flags = BUILDS.get(build, ["-buildmode=pie"])
    environment = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run(["go", "build", *flags, "-o", program, source], check=True, env=environment)
    if build == "headless":
        content = bytearray(program.read_bytes())
        content[40:48], content[58:64] = bytes(8), bytes(6)
        program.write_bytes(content)
    return program


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user")
async def test_an_ordinary_user_sees_less_and_says_what(home: Path, ordinary_python: Path) -> None:
    directory = prepare(home / "data")
    renew_link_token(directory)
    for path in (directory.root, directory.link_token):
        os.chown(path, NOBODY, NOBODY)
    brain = brain_of(directory.root)
    with running("sleep", "60", uid=NOBODY):
        async with brain.serving(directory.root):
            (directory.root / "brain.sock").chmod(0o666)
            async with observing(directory.root, python=ordinary_python, uid=NOBODY) as observe:
                await brain.heard(3)
                observe.terminate()
                assert await ended(observe) == 0
    assert brain.report is not None
    (denied,) = (one for one in brain.report.missing if one.what.startswith("executables of"))
    assert "root" in denied.remedy
