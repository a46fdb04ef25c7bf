"""The use of programs whose control group counts no CPU time: a sum over their processes.

There are such programs where all processes are in the root of a version 1 hierarchy, or of a
container's own cgroup namespace. All processes of one name in one group are one program, as the
workers of a service are. A sum of processes is less exact than a counter: the use of a process before
its first snapshot and after its last one is missing, and shared memory counts once for each process.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nemutator_common.wire import Pressures

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.snapshot import GroupCounters, MachineSnapshot, ProcessCounters

_US_PER_S = 1_000_000


class Counted(NamedTuple):
    """A control group, or its processes of one name."""

    path: str
    command: bytes | None = None


@dataclass(slots=True)
class _Sum:
    cpu_ticks: int = 0
    memory_bytes: int = 0


class ProgramCounters:
    """Counters that only grow, made of processes that come and go.

    A program without processes is forgotten, so a snapshot's bounds are the bounds here.
    """

    def __init__(self) -> None:
        self._before: Mapping[ProcessId, ProcessCounters] = {}
        self._cpu_ticks: dict[Counted, int] = {}

    def add(
        self, snapshot: MachineSnapshot, *, ticks_per_s: int
    ) -> Mapping[Counted, GroupCounters]:
        """The counters of each program in *snapshot* that no group counts."""
        sums: dict[Counted, _Sum] = {}
        for identity, process in snapshot.processes.items():
            if not _uncounted(snapshot, process.path):
                continue
            program = Counted(process.path, process.command)
            total = sums.setdefault(program, _Sum(self._cpu_ticks.get(program, 0)))
            before = self._before.get(identity)
            total.cpu_ticks += 0 if before is None else max(process.cpu_ticks - before.cpu_ticks, 0)
            total.memory_bytes += process.memory_bytes
        self._before = snapshot.processes
        self._cpu_ticks = {program: total.cpu_ticks for program, total in sums.items()}
        return {
            program: GroupCounters(
                inode=None,
                cpu_us=total.cpu_ticks * _US_PER_S // ticks_per_s,
                memory_bytes=total.memory_bytes,
                pressures=Pressures(),
            )
            for program, total in sums.items()
        }


def _uncounted(snapshot: MachineSnapshot, path: str) -> bool:
    """Whether the group at *path* has no counter of its own. One that was not read may have one."""
    if snapshot.gaps.reads_over_cap:
        return False
    group = snapshot.groups.get(path)
    return path == "/" if group is None else group.cpu_us is None
