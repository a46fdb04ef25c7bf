"""Our readers of /proc against psutil, which reads the same machine by code of its own.

Time passes between two readings: what only grows must lie between what psutil says before and after;
what comes and goes must do so within a few tries.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import psutil
import pytest
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_agent.usage.snapshot import MachineSnapshot, ProcessCounters

TRIES = 50
TICKS = os.sysconf("SC_CLK_TCK")
NOT_BUSY = {"idle", "iowait", "steal", "guest", "guest_nice"}
"""Of what `psutil.cpu_times()` tells; the kernel counts guests as users, too."""

NOT_YET_SUMMED = (
    3 * (os.cpu_count() or 1) * max(32, 2 * (os.cpu_count() or 1)) * os.sysconf("SC_PAGE_SIZE")
)
"""Newer kernels count three kinds of pages for each CPU and sum them up in batches: /proc/PID/stat shows
the sums, statm, which psutil reads, what is not in them yet, too."""

CHILD = """
import sys, threading
for _ in range(3):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
ballast = bytearray(b"x") * (20 << 20)
sum(range(5_000_000))
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def reader() -> Iterator[ProcfsReader]:
    files = CachedFiles(most=1000)
    yield ProcfsReader(files, most_processes=10_000, most_groups=10_000)
    files.close()


def taken(reader: ProcfsReader) -> MachineSnapshot:
    return reader.snapshot(at=0.0, monotonic=0.0)


@pytest.fixture
def child() -> Iterator[psutil.Process]:
    """A process of four threads that has used some CPU and memory, and now uses no more."""
    command = (sys.executable, "-c", CHILD)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield psutil.Process(started.pid)
        started.kill()


def between(ours: Callable[[], float], theirs: Callable[[], float]) -> bool:
    """Whether ours lay between two of theirs in one of some tries."""
    for _ in range(TRIES):
        one, found, other = theirs(), ours(), theirs()
        if min(one, other) <= found <= max(one, other):
            return True
    return False


def found(snapshot: MachineSnapshot, pid: int) -> tuple[ProcessId, ProcessCounters]:
    return next(one for one in snapshot.processes.items() if one[0].pid == pid)


def ticks_of(process: psutil.Process) -> int:
    times = process.cpu_times()
    return round((times.user + times.system) * TICKS)


def busy_ticks() -> int:
    times: dict[str, float] = psutil.cpu_times()._asdict()
    return round(sum(spent for name, spent in times.items() if name not in NOT_BUSY) * TICKS)


def test_cpu_time_of_the_machine(reader: ProcfsReader) -> None:
    before = busy_ticks()
    cpu = taken(reader).cpu
    # psutil sums up in seconds, in floating point: a tick may be lost on the way.
    assert before - 1 <= cpu.busy_ticks <= busy_ticks() + 1
    assert cpu.cpus == psutil.cpu_count()


def test_memory_of_the_machine(reader: ProcfsReader) -> None:
    memory = taken(reader).memory
    assert memory.total_bytes == psutil.virtual_memory().total
    assert between(
        lambda: taken(reader).memory.available_bytes, lambda: psutil.virtual_memory().available
    )
    assert between(lambda: taken(reader).memory.swap_used_bytes, lambda: psutil.swap_memory().used)


def test_load_and_time_of_boot(reader: ProcfsReader) -> None:
    # The file has two decimals, rounded in the kernel's own way.
    assert any(abs(taken(reader).load_1m - psutil.getloadavg()[0]) <= 0.01 for _ in range(TRIES))
    assert abs(reader.facts().booted_at - psutil.boot_time()) <= 1


def test_all_processes_are_there_and_no_others(reader: ProcfsReader) -> None:
    def theirs() -> set[int]:
        living = psutil.process_iter(["ppid", "status"])
        return {
            one.pid
            for one in living
            # Kernel threads are children of kthreadd; they have no memory and are no workload.
            if 2 not in (one.pid, one.info["ppid"])
            and one.info["status"] not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        }

    differences = []
    for _ in range(TRIES):
        before, ours, after = theirs(), {one.pid for one in taken(reader).processes}, theirs()
        if before & after <= ours <= before | after:
            return
        differences.append((before & after - ours, ours - (before | after)))
    pytest.fail(f"only psutil's, only ours: {differences[-1]}")


def test_a_process_is_what_psutil_says_of_it(reader: ProcfsReader, child: psutil.Process) -> None:
    before = ticks_of(child)
    identity, counters = found(taken(reader), child.pid)
    assert before <= counters.cpu_ticks <= ticks_of(child)
    assert counters.cpu_ticks > 0
    assert counters.threads == child.num_threads() == 4
    assert counters.memory_bytes > 20 << 20
    assert abs(counters.memory_bytes - child.memory_info().rss) <= NOT_YET_SUMMED
    assert counters.command.decode() == child.name()
    started_at = reader.facts().booted_at + identity.started_ticks / TICKS
    # Both add it to the time of boot, which the kernel tells in whole seconds.
    assert abs(started_at - child.create_time()) <= 1


def test_names_of_all_processes(reader: ProcfsReader) -> None:
    def theirs() -> dict[int, str]:
        return {one.pid: one.info["name"] for one in psutil.process_iter(["name"])}

    before = theirs()
    ours = {one.pid: counters.command for one, counters in taken(reader).processes.items()}
    after = theirs()
    same = [pid for pid in ours if before.get(pid) == after.get(pid) is not None]
    # psutil completes a name that the kernel has cut, from the command line.
    assert [pid for pid in same if not before[pid].startswith(ours[pid].decode())] == []
    assert len(same) > 1


def test_start_times_tell_all_processes_in_the_same_order(reader: ProcfsReader) -> None:
    ours = {one.pid: one.started_ticks for one in taken(reader).processes}
    theirs = {one.pid: one.create_time() for one in psutil.process_iter() if one.pid in ours}
    both = sorted(ours.keys() & theirs.keys(), key=lambda pid: theirs[pid])
    assert [ours[pid] for pid in both] == sorted(ours[pid] for pid in both)
    assert len(both) > 1
