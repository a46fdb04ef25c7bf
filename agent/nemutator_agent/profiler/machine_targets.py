"""Finds targets through /proc and /sys/fs/cgroup, with the counters of their CPU time."""

import asyncio
import functools
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from nemutator_common.profiles.model import SampleLabels
from nemutator_common.wire import ProfileTarget

from nemutator_agent.profiler.cpu_time import (
    parse_cpu_stat,
    parse_cpuacct_usage,
    parse_process_cpu,
    parse_process_start,
)
from nemutator_agent.profiler.ports import Groups
from nemutator_agent.profiler.printable_text import printable
from nemutator_agent.profiler.raw import Thread
from nemutator_agent.profiler.refusals import ProfileRefused, gone
from nemutator_agent.profiler.targets import (
    GroupDirectory,
    ResolvedTarget,
    TargetSelection,
    by_preference,
    pod_group,
)

MOST_PROCESSES = 1024
"""The most processes of a target that are examined before sampling. All are sampled."""

MOST_THREADS = 4096
"""The most that get a name; the others have their numbers."""

_LONGEST_NAME = 64
"""The kernel keeps 15 bytes, each of which may take four characters to show."""
_MOST_GROUPS = 4096
_SEARCH_S = 60.0
_LONGEST_FILE = 64 << 10


class MachineTargets:
    """Searches in a thread: on a machine with many processes it takes a while."""

    def __init__(self, groups: Groups, *, root: Path = Path("/")) -> None:
        self._groups = groups
        self._proc = root / "proc"
        self._ticks_per_s = os.sysconf("SC_CLK_TCK")

    async def resolve(self, target: ProfileTarget) -> ResolvedTarget:
        find = {"pid": self._process, "cgroup": self._group, "pod": self._pod}[target.kind]
        try:
            async with asyncio.timeout(_SEARCH_S):
                return await asyncio.to_thread(find, target.value)
        except TimeoutError:
            raise ProfileRefused(
                "internal",
                f"looking for the target took more than {_SEARCH_S:g} s",
                remedy="ask again when the node is less busy",
            ) from None

    async def labels_of(self, processes: Sequence[int]) -> Mapping[int, SampleLabels]:
        def read() -> dict[int, SampleLabels]:
            return {pid: self._groups.place_of(pid).labels(pid) for pid in processes}

        try:
            async with asyncio.timeout(_SEARCH_S):
                return await asyncio.to_thread(read)
        except TimeoutError:
            return {}

    async def thread_names(self, threads: Collection[Thread]) -> Mapping[Thread, str]:
        def read() -> dict[Thread, str]:
            found = {}
            for pid, thread in islice(threads, MOST_THREADS):
                name = (_read(self._proc / f"{pid}/task/{thread}/comm") or b"").strip()
                if name:
                    found[pid, thread] = printable(
                        name.decode("utf-8", "replace"), longest=_LONGEST_NAME
                    )
            return found

        try:
            async with asyncio.timeout(_SEARCH_S):
                return await asyncio.to_thread(read)
        except TimeoutError:
            return {}

    def _process(self, value: str) -> ResolvedTarget:
        if not re.fullmatch(r"[1-9][0-9]{0,9}", value):
            raise ProfileRefused(
                "request", f"{value[:20]!r} is not a process id", remedy="give it in digits"
            )
        pid = int(value)
        status = _read(self._proc / value / "status")
        leader = re.search(rb"^Tgid:\s*(\d+)$", status or b"", re.MULTILINE)
        if leader is None or (_has_ended(status or b"") and not self._other_threads_run(pid)):
            raise gone(f"process {value}")
        if int(leader[1]) != pid:
            raise ProfileRefused(
                "request",
                f"{value} is a thread of process {int(leader[1])}",
                remedy="profile the process",
            )
        stat = self._proc / value / "stat"
        start = parse_process_start(_read(stat) or b"")
        cpu_seconds = functools.partial(_process_cpu, stat, start, self._ticks_per_s)
        return ResolvedTarget(TargetSelection("process", pid), (pid,), cpu_seconds)

    def _other_threads_run(self, pid: int) -> bool:
        """The first thread of a process may end before the others, which go on."""
        try:
            threads = os.listdir(self._proc / f"{pid}/task")
        except OSError:
            return False
        found = (_read(self._proc / f"{pid}/task/{thread}/status") for thread in threads)
        return any(status is not None and not _has_ended(status) for status in found)

    def _pod(self, uid: str) -> ResolvedTarget:
        return self._group(pod_group(self._groups.of_pod(uid), uid))

    def _group(self, path: str) -> ResolvedTarget:
        directories = self._groups.directories(path)
        for one, controller in by_preference(directories, path):
            processes = tuple(islice(_processes(one.directory), MOST_PROCESSES))
            if not processes:
                continue
            try:
                identity = os.stat(one.directory).st_ino
            except OSError:
                continue
            by = TargetSelection("v1_group" if controller else "group", identity, controller)
            return ResolvedTarget(by, processes, functools.partial(_group_cpu, one, directories))
        raise gone(f"any process of the control group {path[:200]!r}")


def _has_ended(status: bytes) -> bool:
    return re.search(rb"^State:\s*[ZXx]", status, re.MULTILINE) is not None


def _process_cpu(stat: Path, start: int | None, ticks_per_s: int) -> float | None:
    content = _read(stat)
    if content is None or parse_process_start(content) != start:
        return None
    return parse_process_cpu(content, ticks_per_s=ticks_per_s)


def _group_cpu(selected: GroupDirectory, directories: Sequence[GroupDirectory]) -> float | None:
    """By the counter of the selected hierarchy; else by that of version 1 which counts CPU time."""
    if not selected.controllers:
        return parse_cpu_stat(_read(Path(selected.directory, "cpu.stat")) or b"")
    for one in directories:
        if "cpuacct" in one.controllers:
            return parse_cpuacct_usage(_read(Path(one.directory, "cpuacct.usage")) or b"")
    return None


def _processes(directory: str) -> Iterator[int]:
    """The processes of a control group and of those below it."""
    for folder, _, _ in islice(os.walk(directory), _MOST_GROUPS):
        for line in (_read(Path(folder, "cgroup.procs")) or b"").split():
            # A process of another pid namespace has the number 0.
            if line.isdigit() and line != b"0":
                yield int(line)


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST_FILE)
    except OSError:
        return None
