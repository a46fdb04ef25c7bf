"""A snapshot of the machine through /proc and /sys/fs/cgroup: one walk of /proc, then cached files.

Control groups are not searched for: those that matter hold processes, and each process names its
own. *root* is for tests, which bring trees of their own.
"""

import functools
import os
import resource
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from nemutator_common.wire import Pressure, Pressures

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.activities import MEMBERS_EVERY_S, Activities
from nemutator_agent.usage.cached_files import CachedFiles, read_once
from nemutator_agent.usage.cgroup_files import parse_memberships, parse_single
from nemutator_agent.usage.gaps import Gaps, hides_processes
from nemutator_agent.usage.group_activity import ActivityFiles
from nemutator_agent.usage.group_counters import ControlGroups
from nemutator_agent.usage.hierarchies import (
    Hierarchy,
    Placement,
    place,
    with_ancestors,
)
from nemutator_agent.usage.machine_files import (
    parse_cpu_times,
    parse_load_1m,
    parse_memory_use,
    parse_pids,
    parse_system_name,
)
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.mounted import mounted_hierarchies
from nemutator_agent.usage.pod_networks import PodNetworks
from nemutator_agent.usage.pods_limits import pods_limits
from nemutator_agent.usage.pressure import parse_pressure
from nemutator_agent.usage.proc_activity import member_files, namespace_file, whole_disks
from nemutator_agent.usage.proc_connector import ProcessEvents, is_expected
from nemutator_agent.usage.process_events import starts_by_group
from nemutator_agent.usage.process_stat import ProcessStat, parse_process_stat
from nemutator_agent.usage.psutil_machine import read_devices, read_io_counters
from nemutator_agent.usage.run_delays import UNTIMED, RunQueues
from nemutator_agent.usage.snapshot import (
    GroupCounters,
    MachineDevices,
    MachineFacts,
    MachineSnapshot,
    ProcessCounters,
)
from nemutator_agent.usage.text import clean
from nemutator_agent.usage.turns import Turns

T = TypeVar("T")

_YOUNG_SNAPSHOTS = 3
_SNAPSHOTS_UNTIL_AGAIN = 10
"""A process is moved into its group just after its start. Later moves are rare, so they may be seen
half a minute late; the same holds for a process that gets the number of a kernel thread."""

_DEAD_STATES = frozenset("ZXx")
"""A zombie uses nothing: it only waits for its parent."""

_LONGEST_FACT = 200

DEVICES_EVERY_S = 60.0


@dataclass(slots=True)
class _Known:
    snapshots: int
    memberships: bytes


class ProcfsReader:
    """For one thread at a time. Nothing here waits for a device."""

    def __init__(
        self,
        files: CachedFiles,
        *,
        most_processes: int,
        most_groups: int,
        seldom_s: float = 15.0,
        members_s: float = MEMBERS_EVERY_S,
        process_events: bool = False,
        queues: RunQueues = UNTIMED,
        root: str = "",
    ) -> None:
        self._files = files
        self._most_processes = most_processes
        self._most_groups = most_groups
        self._proc = f"{root}/proc"
        self._root = root
        mountinfo = read_once(f"{self._proc}/self/mountinfo") or b""
        self._hierarchies = mounted_hierarchies(root=root)
        self._hidden = hides_processes(mountinfo) and os.geteuid() != 0
        # What is read seldom has descriptors of its own, which are kept for longer.
        self._seldom = CachedFiles(most=files.most // 4)
        self._seldom_s = seldom_s
        self._seldom_swept = 0.0
        self._page_bytes = resource.getpagesize()
        self._groups = ControlGroups(
            files, root, self._seldom.read_or_open, page_bytes=self._page_bytes
        )
        self._activities = Activities(
            ActivityFiles(self._seldom.read_or_open, whole_disks(root), root),
            member_files(root),
            PodNetworks(functools.partial(namespace_file, root=root)),
            every_s=seldom_s,
            members_s=members_s,
            queues=queues,
        )
        self._group_turns = Turns(every_s=seldom_s)
        self._counters: Mapping[str, GroupCounters] = {}
        self._memberships: frozenset[bytes] = frozenset()
        self._found: tuple[Mapping[str, tuple[Hierarchy, ...]], int] = {}, 0
        self._stats: dict[int, tuple[bytes, ProcessStat]] = {}
        self._events = ProcessEvents() if not root and process_events else None
        self._paths: dict[int, str] = {}
        self._devices: MachineDevices | None = None
        self._devices_read_at = 0.0
        self._known: dict[ProcessId, _Known] = {}
        self._kernel_threads: dict[int, int] = {}
        # Processes of one group have the same memberships, word for word.
        self._place = functools.lru_cache(maxsize=4096)(self._placed)

    def facts(self) -> MachineFacts:
        boot_id = read_once(f"{self._proc}/sys/kernel/random/boot_id") or b""
        kernel = read_once(f"{self._proc}/sys/kernel/osrelease") or b""
        release = read_once(f"{self._root}/etc/os-release") or read_once(
            f"{self._root}/usr/lib/os-release"
        )
        system = parse_system_name(release or b"") or b"Linux"
        return MachineFacts(
            kernel=clean(kernel.strip(), longest=_LONGEST_FACT),
            system=clean(system, longest=_LONGEST_FACT),
            boot_id=clean(boot_id.strip(), longest=_LONGEST_FACT),
            booted_at=parse_cpu_times(self._machine_file("stat")).booted_at,
            ticks_per_s=os.sysconf("SC_CLK_TCK"),
        )

    def snapshot(self, *, at: float, monotonic: float) -> MachineSnapshot:
        """Raises MalformedError when even the machine's own counters cannot be read."""
        # The machine first, while there are descriptors left.
        cpu = parse_cpu_times(self._machine_file("stat"))
        memory = parse_memory_use(self._machine_file("meminfo"))
        load_1m = parse_load_1m(self._machine_file("loadavg"))
        pressures = Pressures(
            cpu=self._pressure("cpu"), memory=self._pressure("memory"), io=self._pressure("io")
        )
        pids = self._parsed(self._machine_file("loadavg"), parse_pids)
        io = read_io_counters(root=self._root)
        processes, over = self._processes()
        memberships = frozenset(self._known[process].memberships for process in processes)
        # They change with containers, not with every snapshot.
        if memberships != self._memberships:
            self._memberships = memberships
            self._found = self._find_groups(map(self._place, memberships))
        there, groups_over = self._found
        groups = self._read_groups(there, monotonic)
        snapshot = MachineSnapshot(
            at=at,
            monotonic=monotonic,
            cpu=cpu,
            memory=memory,
            load_1m=load_1m,
            pressures=pressures,
            io=io,
            groups=groups,
            processes=processes,
            activities=self._activities.read(
                monotonic, groups, there, processes, self._began(processes)
            ),
            devices=self._slow_devices(monotonic, there),
            pids=pids,
            gaps=Gaps(
                as_root=os.geteuid() == 0,
                hidden_processes=self._hidden,
                unplaced_processes=sum(
                    ".." in process.path.split("/") for process in processes.values()
                ),
                processes_over_cap=over,
                groups_over_cap=groups_over,
                reads_over_cap=self._files.refused,
                machine_pressure=pressures.cpu is not None,
                machine_disks=io.disk_read_bytes is not None,
                machine_network=io.network_received_bytes is not None,
                process_events=self._events is None or self._events.is_heard or not is_expected(),
                hierarchies=self._hierarchies,
                **({} if self._files.refused else _without(groups)),
            ),
        )
        self._files.sweep()
        if monotonic - self._seldom_swept >= 2 * self._seldom_s:
            self._seldom.sweep()
            self._seldom_swept = monotonic
        return snapshot

    def close(self) -> None:
        self._files.close()
        self._seldom.close()
        if self._events is not None:
            self._events.close()

    def _slow_devices(
        self, now: float, there: Mapping[str, tuple[Hierarchy, ...]]
    ) -> MachineDevices:
        if self._devices is None or now - self._devices_read_at >= DEVICES_EVERY_S:
            limits = pods_limits(there, read_once, self._root)
            pids = self._parsed(read_once(f"{self._proc}/sys/kernel/pid_max"), parse_single)
            self._devices = replace(
                read_devices(root=self._root),
                most_pids=pids,
                pods_memory_bytes=limits.memory_bytes,
                most_pods_pids=limits.pids,
            )
            self._devices_read_at = now
        return self._devices

    def _began(self, processes: Mapping[ProcessId, ProcessCounters]) -> Mapping[str, int] | None:
        """How many processes began in each group since the last snapshot."""
        before, self._paths = (
            self._paths,
            {one.pid: counters.path for one, counters in processes.items()},
        )
        began = None if self._events is None else self._events.taken()
        return None if began is None else starts_by_group(began, before | self._paths)

    def started_ticks(self, pid: int) -> int | None:
        """The start of the process that has this number now."""
        stat = self._parsed(read_once(f"{self._proc}/{pid}/stat"), parse_process_stat)
        return None if stat is None else stat.started_ticks

    def _processes(self) -> tuple[dict[ProcessId, ProcessCounters], int]:
        pids = sorted(int(name) for name in os.listdir(self._proc) if name.isdecimal())
        threads = self._kernel_threads
        self._kernel_threads = {pid: threads[pid] for pid in pids if pid in threads}
        found: dict[ProcessId, ProcessCounters] = {}
        known: dict[ProcessId, _Known] = {}
        over = 0
        for pid in pids:
            if not self._may_be_process(pid):
                continue
            if len(found) >= self._most_processes:
                over += 1
                continue
            stat = self._stat(pid)
            if stat is None:
                continue
            process = ProcessId(pid, stat.started_ticks)
            entry = self._membership(process)
            if entry is None:
                continue
            known[process] = entry
            found[process] = ProcessCounters(
                path=self._place(entry.memberships).path,
                command=stat.command,
                threads=stat.threads,
                cpu_ticks=stat.cpu_ticks,
                memory_bytes=stat.resident_pages * self._page_bytes,
            )
        self._known = known
        self._stats = {one.pid: self._stats[one.pid] for one in found if one.pid in self._stats}
        return found, over

    def _may_be_process(self, pid: int) -> bool:
        snapshots = self._kernel_threads.get(pid)
        if snapshots is None:
            return True
        self._kernel_threads[pid] = snapshots + 1
        return (snapshots + pid) % _SNAPSHOTS_UNTIL_AGAIN == 0

    def _stat(self, pid: int) -> ProcessStat | None:
        content = self._files.read(f"{self._proc}/{pid}/stat")
        # A process that waits has the same text in every snapshot.
        known = self._stats.get(pid)
        if known is not None and known[0] == content:
            stat: ProcessStat | None = known[1]
        else:
            stat = self._parsed(content, parse_process_stat)
            if content is not None and stat is not None:
                self._stats[pid] = content, stat
        if stat is None or stat.state in _DEAD_STATES:
            return None
        if stat.kernel_thread:
            self._kernel_threads.setdefault(pid, 0)
            return None
        self._kernel_threads.pop(pid, None)
        return stat

    def _membership(self, process: ProcessId) -> _Known | None:
        entry = self._known.get(process)
        snapshots = 0 if entry is None else entry.snapshots + 1
        if (
            entry is not None
            and snapshots >= _YOUNG_SNAPSHOTS
            and (snapshots + process.pid) % _SNAPSHOTS_UNTIL_AGAIN
        ):
            entry.snapshots = snapshots
            return entry
        content = read_once(f"{self._proc}/{process.pid}/cgroup")
        # The content may be of another process with this number, unless ours still lives.
        stat = self._stat(process.pid)
        if content is None or stat is None or stat.started_ticks != process.started_ticks:
            return None
        return _Known(snapshots, content)

    def _placed(self, content: bytes) -> Placement:
        return place(self._parsed(content, parse_memberships) or (), self._hierarchies)

    def _read_groups(
        self, found: Mapping[str, tuple[Hierarchy, ...]], now: float
    ) -> Mapping[str, GroupCounters]:
        whole = frozenset(self._group_turns.due(found, now))
        before = self._counters
        self._counters = {
            path: self._groups.read(
                path, hierarchies, before=before.get(path), whole=path in whole, at=now
            )
            for path, hierarchies in found.items()
        }
        return self._counters

    def _find_groups(
        self, placements: Iterable[Placement]
    ) -> tuple[Mapping[str, tuple[Hierarchy, ...]], int]:
        """The groups that hold processes and all above them, with the hierarchies that each is in, and
        the number of those that are too many."""
        there: dict[str, set[Hierarchy]] = {}
        wanted: set[str] = set()
        for placement in placements:
            wanted.update(with_ancestors(placement.path))
            for hierarchy, path in placement.groups:
                for above in with_ancestors(path):
                    there.setdefault(above, set()).add(hierarchy)
        paths = sorted(wanted - {"/"})
        ordered = {path: self._ordered(there.get(path, ())) for path in paths[: self._most_groups]}
        self._groups.forget(ordered)
        return ordered, len(paths) - len(ordered)

    def _ordered(self, hierarchies: Iterable[Hierarchy]) -> tuple[Hierarchy, ...]:
        return tuple(hierarchy for hierarchy in self._hierarchies if hierarchy in hierarchies)

    def _pressure(self, resource_name: str) -> Pressure | None:
        return self._parsed(
            self._files.read(f"{self._proc}/pressure/{resource_name}"), parse_pressure
        )

    def _machine_file(self, name: str) -> bytes:
        content = self._files.read(f"{self._proc}/{name}")
        if content is None:
            raise MalformedError(f"/proc/{name}: cannot be read")
        return content

    def _parsed(self, content: bytes | None, parse: Callable[[bytes], T]) -> T | None:
        try:
            return None if content is None else parse(content)
        except MalformedError:
            return None


def _without(groups: Mapping[str, GroupCounters]) -> Mapping[str, int]:
    counted = tuple(groups.values())
    return {
        "groups": len(counted),
        "groups_without_cpu": sum(group.cpu_us is None for group in counted),
        "groups_without_memory": sum(
            group.memory_bytes is None and not _counted_above(path, groups)
            for path, group in groups.items()
        ),
        "groups_without_pressure": sum(group.pressures.cpu is None for group in counted),
    }


def _counted_above(path: str, groups: Mapping[str, GroupCounters]) -> bool:
    """Whether its memory is in that of a service or container above, which made this group for itself
    and counts it whole. A slice above is no such group: what is in it has its own administrator."""
    while (path := path.rpartition("/")[0]) and not path.endswith(".slice"):
        above = groups.get(path)
        if above is not None and above.memory_bytes is not None:
            return True
    return False
