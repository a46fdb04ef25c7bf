"""What each group does beside CPU and memory, from readings that are spread over time.

A snapshot comes every few seconds; here a group's counters are read one to four times a minute and its
processes once, some of them in each snapshot, so that a full node costs little and no snapshot long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from nemutator_common.wire_activity import Activity

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.group_activity import (
    ActivityCounters,
    ActivityFiles,
    activity_between,
)
from nemutator_agent.usage.group_names import is_sized, name_group
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.members import MemberCounters, MemberFiles, run_delay_between
from nemutator_agent.usage.pod_networks import (
    NetworkCounters,
    PodNetworks,
    network_owner,
    oldest_members,
    rates_between,
)
from nemutator_agent.usage.run_delays import (
    UNTIMED,
    RunDelays,
    RunQueues,
    waited_between,
)
from nemutator_agent.usage.snapshot import GroupCounters, ProcessCounters
from nemutator_agent.usage.turns import Turns

MEMBERS_EVERY_S = 60.0


@dataclass(slots=True)
class StartCount:
    """The processes that began in a group since its last turn."""

    since: float | None = None
    began: int = 0
    is_whole: bool = True

    def taken(self, at: float) -> float | None:
        """Per second, and from here on anew; None when some may not have been heard."""
        elapsed_s = 0.0 if self.since is None else at - self.since
        rate = round(self.began / elapsed_s, 3) if self.is_whole and elapsed_s > 0 else None
        self.since, self.began, self.is_whole = at, 0, True
        return rate


@dataclass(slots=True)
class _Known:
    inode: int | None
    activity: Activity = field(default_factory=Activity)
    counters: ActivityCounters | None = None
    members: MemberCounters | None = None
    turns: tuple[float, RunDelays] | None = None
    """When they were read; None where the kernel does not time them."""
    network: NetworkCounters | None = None
    containers: frozenset[str] | None = None
    starts: StartCount = field(default_factory=StartCount)


class Activities:
    """Remembers the last reading of each group of the last snapshot, which has a bound."""

    def __init__(
        self,
        files: ActivityFiles,
        members: MemberFiles,
        networks: PodNetworks,
        *,
        every_s: float,
        members_s: float = MEMBERS_EVERY_S,
        queues: RunQueues = UNTIMED,
    ) -> None:
        self._files = files
        self._members = members
        self._networks = networks
        self._queues = queues
        self._counter_turns = Turns(every_s=every_s)
        self._network_turns = Turns(every_s=every_s)
        self._member_turns = Turns(every_s=members_s)
        self._known: dict[str, _Known] = {}
        self._names: dict[str, tuple[str | None, str | None]] = {}

    def read(
        self,
        at: float,
        groups: Mapping[str, GroupCounters],
        hierarchies: Mapping[str, tuple[Hierarchy, ...]],
        processes: Mapping[ProcessId, ProcessCounters],
        began: Mapping[str, int] | None = None,
    ) -> Mapping[str, Activity]:
        """What is known of each of *groups* at *at*, by the monotonic clock.

        *began* is how many processes began in each since the last time; None when that is not known.
        """
        self._follow(groups)
        self._add_starts(began)
        # Slices and pods are sums of others, which are read.
        sized = {path: None for path in groups if is_sized(path) or _is_pod(path)}
        for path in self._counter_turns.due(sized, at):
            known = self._known[path]
            read = self._files.counters(path, hierarchies.get(path, ()), at)
            now = activity_between(known.counters, read)
            known.counters = read
            known.activity = replace(
                known.activity,
                throttled=now.throttled,
                throttled_s=now.throttled_s,
                oom_kills=now.oom_kills,
                pids=now.pids,
                disk_read=now.disk_read,
                disk_written=now.disk_written,
                processes_started=known.starts.taken(at),
            )
            if is_sized(path):
                self._read_turns(known, path, hierarchies.get(path, ()), at)
        self._read_members(at, processes)
        self._read_networks(at, processes)
        self._count_starts()
        return {
            path: known.activity
            for path, known in self._known.items()
            if known.activity is not _NOTHING
        }

    def _add_starts(self, began: Mapping[str, int] | None) -> None:
        if began is None:
            for known in self._known.values():
                known.starts.is_whole = False
            return
        for path, number in began.items():
            if path in self._known:
                self._known[path].starts.began += number

    def _follow(self, groups: Mapping[str, GroupCounters]) -> None:
        known = self._known
        self._known = {}
        for path, counters in groups.items():
            before = known.get(path)
            # Another group under the same path begins anew.
            if before is None or before.inode != counters.inode:
                before = _Known(counters.inode, _NOTHING)
            self._known[path] = before
        self._names = {path: self._names.get(path) or _name(path) for path in groups}
        self._queues.forget(groups.keys())

    def _read_turns(
        self, known: _Known, path: str, hierarchies: tuple[Hierarchy, ...], at: float
    ) -> None:
        read = self._queues.delays(path, hierarchies)
        if read is None:
            if known.turns is not None:
                known.activity = replace(known.activity, run_delay=None, run_delay_p99=None)
            known.turns = None
            return
        begun, before = known.turns or (at, None)
        known.turns = at, read
        if waited := waited_between(before, read, at - begun):
            known.activity = replace(
                known.activity, run_delay=waited.share, run_delay_p99=waited.p99
            )

    def _read_members(self, at: float, processes: Mapping[ProcessId, ProcessCounters]) -> None:
        members: dict[str, list[tuple[ProcessId, int]]] = {}
        for process, counters in processes.items():
            if counters.path in self._known:
                members.setdefault(counters.path, []).append((process, counters.threads))
        for path in self._member_turns.due(members, at):
            known = self._known[path]
            is_timed = known.turns is not None
            read = self._members.counters(members[path], at, delays=not is_timed)
            delay = run_delay_between(known.members, read)
            known.members = read
            known.activity = replace(
                known.activity,
                open_files=read.open_files,
                run_delay=known.activity.run_delay if is_timed else delay,
            )

    def _read_networks(self, at: float, processes: Mapping[ProcessId, ProcessCounters]) -> None:
        owned = (
            (process, self._names[counters.path][0])
            for process, counters in processes.items()
            if counters.path in self._names
        )
        oldest = oldest_members((process, owner) for process, owner in owned)
        there = {owner: process for owner, process in oldest.items() if owner in self._known}
        for owner in self._network_turns.due(there, at):
            known = self._known[owner]
            read = self._networks.counters(there[owner].pid, at)
            before, known.network = known.network, read
            rates = None if read is None else rates_between(before, read)
            known.activity = replace(known.activity, traffic=rates)

    def _count_starts(self) -> None:
        containers: dict[str, set[str]] = {}
        for path, (_, container) in self._names.items():
            if container is not None:
                containers.setdefault(path.rpartition("/")[0], set()).add(container)
        for path, ids in containers.items():
            known = self._known.get(path)
            if known is None or not _is_pod(path):
                continue
            new = 0 if known.containers is None else len(ids - known.containers)
            if known.containers is None or new:
                starts = (known.activity.starts or 0) + new
                known.activity = replace(known.activity, starts=starts)
            known.containers = frozenset(ids)


_NOTHING = Activity()


def _is_pod(path: str) -> bool:
    return name_group(path).kind == "pod"


def _name(path: str) -> tuple[str | None, str | None]:
    """Who owns the network of processes in the group at *path*; its id, when it is a container."""
    naming = name_group(path)
    container = naming.container_id if naming.kind == "container" else None
    return network_owner(path), container
