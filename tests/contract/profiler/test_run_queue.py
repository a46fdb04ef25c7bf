"""What threads of control groups wait for a CPU, as the kernel itself counts it of each of them."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_agent.profiler.run_queue_timing import (
    MOST_GROUPS,
    SLOTS,
    GroupNumber,
    RunQueueTiming,
    time_run_queues,
)
from nemutator_agent.usage import run_delays

from tests.e2e.control_groups import group_of, mounted
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e

THREADS = 3
COMPETING = f"""
import os, threading
os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
def spin():
    while True: sum(range(1000))
for _ in range({THREADS}): threading.Thread(target=spin, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
ENDING = """
import sys, threading
for line in sys.stdin:
    for _ in range(int(line)):
        one = threading.Thread(target=sum, args=(range(1000),))
        one.start()
        one.join()
    print("done", flush=True)
"""
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


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def ask(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{words}\n")
    process.stdin.flush()
    assert line_of(process) == "done\n"


@dataclass(frozen=True)
class Scheduled:
    """What the kernel says of all threads of a process."""

    waited_ns: int
    turns: int


def stopped(pid: int) -> Scheduled:
    """While none of its threads has a CPU."""
    os.kill(pid, signal.SIGSTOP)
    tasks = Path(f"/proc/{pid}/task")

    def are_off() -> bool:
        states = [one.read_text().rpartition(")")[2].split()[0] for one in tasks.glob("*/stat")]
        return set(states) == {"T"}

    until(are_off, "all threads are stopped", within_s=PATIENCE_S)
    told = [one.read_text().split() for one in tasks.glob("*/schedstat")]
    return Scheduled(sum(int(one[1]) for one in told), sum(int(one[2]) for one in told))


def goes_on(pid: int, before: Scheduled) -> None:
    """Until its threads have had some turns."""
    os.kill(pid, signal.SIGCONT)
    tasks = Path(f"/proc/{pid}/task")

    def have_run() -> bool:
        turns = sum(int(one.read_text().split()[2]) for one in tasks.glob("*/schedstat"))
        return turns >= before.turns + 100

    until(have_run, "its threads take turns", within_s=PATIENCE_S)


@contextlib.asynccontextmanager
async def timing(hierarchy: str, *, most_threads: int = 1000) -> AsyncIterator[RunQueueTiming]:
    unified = hierarchy == "v2"
    found = await time_run_queues(
        unified=unified, controller="" if unified else hierarchy, most_threads=most_threads
    )
    try:
        yield found
    finally:
        found.close()


def number(directory: str, hierarchy: str) -> GroupNumber:
    return GroupNumber(os.stat(directory).st_ino, hierarchy == "v2")


def turns_of(timed: RunQueueTiming, group: GroupNumber) -> Scheduled:
    read = timed.read(group)
    assert read is not None
    waited_ns, turns = read
    return Scheduled(waited_ns, sum(turns))


@pytest.mark.parametrize(("hierarchy", "mount"), mounted())
async def test_turns_and_waits_are_those_that_the_kernel_counts_of_each_thread(
    hierarchy: str, mount: str
) -> None:
    with running(COMPETING) as process, running(COMPETING) as other:
        assert (line_of(process), line_of(other)) == ("ready\n", "ready\n")
        with (
            group_of(mount, ("", process.pid), ("below", process.pid)) as path,
            group_of(mount, ("", other.pid)) as beside,
        ):
            ours, theirs = (number(mount + one, hierarchy) for one in (path, beside))
            async with timing(hierarchy) as timed:
                assert timed.read(ours) is None
                assert timed.add(ours)
                assert timed.add(theirs)
                scheduled = stopped(process.pid)
                first = turns_of(timed, ours)
                goes_on(process.pid, scheduled)
                again = stopped(process.pid)
                found = turns_of(timed, ours)
                assert found.waited_ns - first.waited_ns == again.waited_ns - scheduled.waited_ns
                assert found.turns - first.turns == again.turns - scheduled.turns >= 100
                assert turns_of(timed, theirs).turns > 0
                assert timed.untold() == 0
                timed.remove([ours, ours])
                assert timed.read(ours) is None
                assert timed.add(ours)
                assert turns_of(timed, ours) == Scheduled(0, 0)


async def test_a_thread_is_timed_from_its_first_turn_and_forgotten_with_its_last() -> None:
    hierarchy, mount = mounted()[0]
    with running(ENDING) as process, group_of(mount, ("", process.pid)) as path:
        group = number(mount + path, hierarchy)
        async with timing(hierarchy, most_threads=4) as timed:
            assert timed.add(group)
            ask(process, "50")
            # Each has had a turn, and has left its place to the next one.
            assert turns_of(timed, group).turns >= 50
            assert timed.untold() == 0


async def test_threads_that_there_is_no_room_for_are_counted() -> None:
    hierarchy, mount = mounted()[0]
    with running(COMPETING) as process, group_of(mount, ("", process.pid)) as path:
        assert line_of(process) == "ready\n"
        async with timing(hierarchy, most_threads=1) as timed:
            assert timed.add(number(mount + path, hierarchy))
            until(lambda: timed.untold() > 0, "some are left out", within_s=PATIENCE_S)


async def test_there_are_no_more_groups_than_the_kernel_has_room_for() -> None:
    hierarchy, _ = mounted()[0]
    async with timing(hierarchy) as timed:
        several = [GroupNumber(1 << 40 | one, is_unified=True) for one in range(MOST_GROUPS + 1)]
        added = [timed.add(one) for one in several]
        assert not all(added)
        timed.remove(several)
        assert timed.add(several[-1])


def test_slots_are_those_of_whoever_reads_them() -> None:
    assert SLOTS == run_delays.SLOTS
