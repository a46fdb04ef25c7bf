"""`nemutator-agent observe` as a process: asked for profiles, by a brain that follows wire.py."""

import asyncio
import contextlib
import gzip
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from nemutator_common.data_directory_files import prepare, renew_link_token
from nemutator_common.profiles import pprof_decoder
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    REPORTS_PATH,
    Ack,
    Batch,
    ProfileOutcome,
    ProfileRequest,
    ProfileRequests,
    ProfileTarget,
)

from tests.contract.profiler.busy import AGREES, busy
from tests.e2e.talking import ask
from tests.processes import own_memory

pytestmark = pytest.mark.e2e

PATIENCE_S = 60.0
HZ = 99


@dataclass
class Brain:
    """Answers a long poll as soon as there is a request, and remembers what it is told."""

    requests: list[ProfileRequest] = field(default_factory=list)
    outcomes: list[ProfileOutcome] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    reports: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        answer: object
        if request.path == PROFILE_REQUESTS_PATH:
            answer = await self._requests(float(request.query["wait_s"]))
        elif request.path == PROFILES_PATH:
            async with self.changed:
                self.outcomes.append(msgspec.json.decode(await request.read(), type=ProfileOutcome))
                self.changed.notify_all()
            return web.Response()
        elif request.method == "GET":
            answer = Ack(request.query["epoch"], self.reports)
        else:
            batch = msgspec.json.decode(await request.read(), type=Batch)
            async with self.changed:
                self.reports = batch.envelopes[-1].seq
                self.changed.notify_all()
            answer = Ack(batch.epoch, self.reports)
        return web.Response(body=msgspec.json.encode(answer))

    async def _requests(self, wait_s: float) -> ProfileRequests:
        async with self.changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self.changed.wait_for(lambda: self.requests)
            waiting, self.requests = tuple(self.requests), []
            return ProfileRequests(waiting)

    async def profile(
        self, target: ProfileTarget, *, seconds: float, threads: bool = False
    ) -> ProfileOutcome:
        name = f"p{len(self.outcomes)}"
        request = ProfileRequest(id=name, target=target, seconds=seconds, hz=HZ, threads=threads)
        async with self.changed:
            self.requests.append(request)
            self.changed.notify_all()
            async with asyncio.timeout(PATIENCE_S):
                await self.changed.wait_for(
                    lambda: any(
                        one.id == request.id and one.state != "running" for one in self.outcomes
                    )
                )
        return self.outcomes[-1]


@dataclass
class Observed:
    brain: Brain
    process: asyncio.subprocess.Process
    folder: Path

    def memory_kib(self) -> int:
        """What it has of its own, without files."""
        return own_memory(self.process.pid) >> 10

    def metric(self, line: str) -> float:
        text = ask(self.folder / "observe.sock", "/metrics").body.decode()
        (found,) = re.findall(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
        return float(found)


@pytest.fixture
async def observed(tmp_path: Path) -> AsyncIterator[Observed]:
    directory = prepare(tmp_path / "data")
    renew_link_token(directory)
    brain = Brain()
    app = web.Application(client_max_size=16 << 20)
    for path in (REPORTS_PATH, PROFILE_REQUESTS_PATH, PROFILES_PATH):
        app.router.add_route("*", path, brain.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.UnixSite(runner, str(directory.root / "brain.sock")).start()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nemutator_agent", "observe", "--data-dir", str(directory.root),
        "--interval-s", "0.5", "--lifeline",
        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Observed(brain, process, directory.root)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await runner.cleanup()


async def test_a_profile_of_a_process_arrives(observed: Observed) -> None:
    async with asyncio.timeout(PATIENCE_S), observed.brain.changed:
        await observed.brain.changed.wait_for(lambda: observed.brain.reports >= 3)
    idle = observed.memory_kib()
    with busy("while True: pass") as pid:  # nothing but the interpreter's own loop
        done = await observed.brain.profile(ProfileTarget("pid", str(pid)), seconds=3)
    print(
        f"recorded={done.recorded} lost={done.lost} cpu_seconds={done.cpu_seconds} "
        f"pprof={len(done.pprof)} bytes notes={done.notes} RssAnon idle={idle} KiB "
        f"after={observed.memory_kib()} KiB"
    )
    *running, ended = [one.state for one in observed.brain.outcomes]
    # One for each phase, unless the next one overtakes it.
    assert running
    assert (set(running), ended) == ({"running"}, "done")
    assert done.cpu_seconds is not None
    # Of half a second, on a machine that does much else, each sample is two in a hundred.
    assert done.recorded / HZ == pytest.approx(done.cpu_seconds, rel=AGREES, abs=AGREES)
    assert done.lost == {}
    # What passed, not what was asked for: a loop may wake within its timer's resolution before it.
    assert done.seconds == pytest.approx(3, rel=0.01) or done.seconds > 3
    content = gzip.decompress(done.pprof)
    assert b"_PyEval_EvalFrameDefault" in content or b"[unknown in python" in content
    assert observed.metric('nemutator_profile_sessions_total{result="done"}') == 1
    counted = observed.metric('nemutator_profile_samples_total{result="recorded"}')
    assert counted == done.recorded
    assert observed.brain.reports > 3


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


async def test_threads_are_told_apart_in_pprof_when_that_is_asked_for(observed: Observed) -> None:
    with busy("while True: pass") as pid:
        target = ProfileTarget("pid", str(pid))
        apart = await observed.brain.profile(target, seconds=1, threads=True)
        together = await observed.brain.profile(target, seconds=1)
        name = command_of(pid)
    labels = [dict(one) for _, _, one in pprof_decoder.decode(apart.pprof).samples]
    assert labels
    assert all((one["thread"], one["thread_name"]) == (str(pid), name) for one in labels)
    usual = [dict(one) for _, _, one in pprof_decoder.decode(together.pprof).samples]
    assert all("thread" not in one and one["pid"] == str(pid) for one in usual)


GO_PROGRAM = """package main

var sink uint64

// No frame: it calls nobody and has no locals on the stack.
//go:noinline
func leaf(n uint64) uint64 {
	for i := uint64(0); i < n; i++ {
		n ^= n << 13
		n ^= n >> 7
	}
	return n
}

func inlined(n uint64) uint64 { return leaf(n&1023) + 1 }

//go:noinline
func middle(n uint64) uint64 { return inlined(n) * 3 }

func main() {
	for {
		sink += middle(sink | 512)
	}
}
"""


@contextlib.contextmanager
def go_program(folder: Path) -> Iterator[int]:
    """Stripped: only Go's own tables name its functions."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("no Go: apt-get install golang-go")
    (folder / "go.mod").write_text("module busy\n\ngo 1.18\n")
    (folder / "main.go").write_text(GO_PROGRAM)
    command = [go, "build", "-ldflags=-s -w", "-buildvcs=false", "-o", "busy", "."]
    subprocess.run(command, cwd=folder, check=True)
    process = subprocess.Popen([folder / "busy"])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


async def test_the_caller_of_a_go_leaf_is_in_its_stack(observed: Observed, tmp_path: Path) -> None:
    with go_program(tmp_path) as pid:
        done = await observed.brain.profile(ProfileTarget("pid", str(pid)), seconds=3)
    assert done.state == "done", done.reason
    profile = pprof_decoder.decode(done.pprof)
    stacks: Counter[tuple[str, ...]] = Counter()
    for stack, count in profile.stacks:
        stacks[tuple(profile.frames[place].function for place in stack)] += count
    print(f"recorded={done.recorded} lost={done.lost} notes={done.notes}")
    for names, count in stacks.most_common(5):
        print(count, " < ".join(names))
    whole = ("main.leaf", "main.inlined", "main.middle", "main.main")
    in_leaf = sum(count for names, count in stacks.items() if names[0] == whole[0])
    right = sum(count for names, count in stacks.items() if names[:4] == whole)
    assert in_leaf > 0.5 * done.recorded
    assert right > 0.95 * in_leaf


async def test_what_cannot_be_profiled_is_told_and_the_next_one_is_made(
    observed: Observed,
) -> None:
    refused = await observed.brain.profile(ProfileTarget("pid", "2147483646"), seconds=1)
    assert refused.state == "refused"
    assert "process 2147483646 is not running" in refused.reason
    with busy() as pid:
        done = await observed.brain.profile(ProfileTarget("pid", str(pid)), seconds=1)
    assert done.state == "done"


async def test_the_end_does_not_wait_for_a_profile(observed: Observed) -> None:
    with busy() as pid:
        request = ProfileRequest(
            id="long", target=ProfileTarget("pid", str(pid)), seconds=100, hz=HZ
        )
        async with observed.brain.changed:
            observed.brain.requests.append(request)
            observed.brain.changed.notify_all()
            async with asyncio.timeout(PATIENCE_S):
                await observed.brain.changed.wait_for(lambda: observed.brain.outcomes)
        observed.process.terminate()
        begun = time.monotonic()
        async with asyncio.timeout(60):
            assert await observed.process.wait() == 0
        print(f"ended after {time.monotonic() - begun:.2f} s")
