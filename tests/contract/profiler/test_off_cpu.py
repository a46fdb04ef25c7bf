"""What the kernel says of threads that are blocked, for as long as the test keeps them so."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.profiler.off_cpu_sampling import OffCpuSampler
from nemutator_agent.profiler.targets import TargetSelection

from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
SLEEPERS = """
import threading, time
def sleep():
    while True: time.sleep(0.005)
for _ in range(4): threading.Thread(target=sleep).start()
print("ready", flush=True)
"""
HELD_S = 0.25
PATIENCE_S = 60.0


@contextlib.contextmanager
def running(code: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def echo(process: subprocess.Popen[str]) -> None:
    """Have the program answer, and wait until it is blocked again."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("word\n")
    process.stdin.flush()
    assert process.stdout.readline() == "word\n"
    until_reading(process.pid)


def until_reading(pid: int) -> None:
    """Wait until a thread is off its CPU, because it reads a pipe: one that is still on its way has none
    of these."""

    def reads() -> bool:
        return any("pipe" in one.read_text() for one in Path(f"/proc/{pid}/task").glob("*/wchan"))

    until(reads, "it is blocked", within_s=PATIENCE_S)


def hold() -> None:
    end = time.monotonic() + HELD_S
    until(lambda: time.monotonic() >= end, "time", within_s=PATIENCE_S)


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def waits_of(pid: int) -> int:
    """How often its threads have been blocked."""
    return sum(
        int(line.split()[1])
        for status in Path(f"/proc/{pid}/task").glob("*/status")
        for line in status.read_text().splitlines()
        if line.startswith("voluntary_ctxt_switches:")
    )


async def test_what_is_still_blocked_at_the_end_is_timed_until_then() -> None:
    with running(ECHO) as process:
        await asyncio.to_thread(echo, process)
        begun = time.monotonic()
        sampling = await OffCpuSampler().start(
            TargetSelection("process", process.pid), hz=0, texts={}
        )
        await asyncio.to_thread(echo, process)
        await asyncio.to_thread(hold)
        (program,) = await sampling.drain()
        samples = await sampling.stop()
        most = time.monotonic() - begun
    assert program.task[0] == process.pid
    assert HELD_S <= samples.recorded / 1e9 <= most
    assert samples.recorded == sum(row.count for row in samples.rows)
    assert {row.tgid for row in samples.rows} == {process.pid}
    assert all(row.kernel for row in samples.rows)
    assert (samples.lost, samples.untimed) == ({}, 0)
    with pytest.raises(RuntimeError, match="stopped already"):
        await sampling.drain()


async def test_a_wait_that_has_ended_is_timed_as_long_as_it_was() -> None:
    with running(ECHO) as process:
        await asyncio.to_thread(echo, process)
        sampling = await OffCpuSampler().start(
            TargetSelection("process", process.pid), hz=0, texts={}
        )
        await asyncio.to_thread(echo, process)
        await asyncio.to_thread(hold)
        process.kill()
        until(lambda: state(process.pid) == "Z", "the end", within_s=PATIENCE_S)
        samples = await sampling.stop()
    assert samples.recorded >= HELD_S * 1e9
    assert samples.lost == {}


async def test_of_others_nothing_is_recorded() -> None:
    with running(ECHO) as process:
        sampling = await OffCpuSampler().start(
            TargetSelection("process", 0x7FFFFFF0), hz=0, texts={}
        )
        await asyncio.to_thread(echo, process)
        samples = await sampling.stop()
        await sampling.discard()
    assert (samples.rows, samples.recorded, samples.lost, samples.untimed) == ((), 0, {}, 0)


async def test_waits_of_too_many_threads_are_counted() -> None:
    with running(SLEEPERS) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        sampling = await OffCpuSampler(most_waits=1).start(
            TargetSelection("process", process.pid), hz=0, texts={}
        )
        before = waits_of(process.pid)
        until(lambda: waits_of(process.pid) >= before + 100, "waits", within_s=PATIENCE_S)
        samples = await sampling.stop()
    assert samples.untimed > 0
    assert samples.recorded > 0
