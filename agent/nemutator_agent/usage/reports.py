"""Makes one report of two snapshots: counters become rates, bytes become clean text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from nemutator_common.wire import (
    Machine,
    Pressures,
    ProcessUsage,
    Report,
    Throughput,
    Workload,
)
from nemutator_common.wire_activity import NetworkInterface

from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.gaps import name_gaps
from nemutator_agent.usage.group_names import name_group
from nemutator_agent.usage.hierarchies import with_ancestors
from nemutator_agent.usage.network_files import interface_rates
from nemutator_agent.usage.snapshot import (
    GroupCounters,
    InterfaceLink,
    IoCounters,
    MachineFacts,
    MachineSnapshot,
)
from nemutator_agent.usage.text import clean

LONGEST_PATH = 1000
LONGEST_NAME = 253
LONGEST_COMMAND = 64
"""The kernel keeps 15 bytes of a command; escaping makes at most four characters of each."""

MOST_INTERFACES = 256

_US_PER_S = 1_000_000
_DECIMALS = 6
"""The digits of a rate: the kernel counts microseconds at best."""

_NOT_READ = GroupCounters(inode=None, cpu_us=None, memory_bytes=None, pressures=Pressures())


def report_of(
    before: MachineSnapshot | None,
    after: MachineSnapshot,
    *,
    facts: MachineFacts,
    runtimes: Mapping[ProcessId, DetectedRuntime],
    denied: int = 0,
) -> Report:
    """What the machine did between two snapshots; without an earlier one there are no rates.

    *denied* is the number of processes whose executable may not be seen.
    """
    machine = _machine(before, after, facts)
    members = Counter(process.path for process in after.processes.values())
    paths = _shown({above for member in members for above in with_ancestors(member)} | {"/"})
    processes = tuple(_processes(before, after, facts, runtimes, paths))
    return Report(
        taken_at=after.at,
        machine=machine,
        workloads=tuple(_workloads(before, after, machine, members, paths, processes)),
        processes=processes,
        missing=name_gaps(replace(after.gaps, denied_executables=denied)),
    )


def rate(before: int | None, after: int | None, elapsed_s: float) -> float | None:
    """Units a second; None when no time has passed, or the counter began anew."""
    if before is None or after is None or after < before or elapsed_s <= 0:
        return None
    return (after - before) / elapsed_s


def _cores(before: int | None, after: int | None, *, per_core_s: float) -> float | None:
    """CPU time as cores in use; *per_core_s* is what one busy core adds between the snapshots."""
    used = rate(before, after, per_core_s)
    return None if used is None else round(used, _DECIMALS)


def _elapsed_s(before: MachineSnapshot | None, after: MachineSnapshot) -> float:
    return after.monotonic - before.monotonic if before else 0.0


def _machine(
    before: MachineSnapshot | None, after: MachineSnapshot, facts: MachineFacts
) -> Machine:
    return Machine(
        kernel=facts.kernel,
        system=facts.system,
        cpus=after.cpu.cpus,
        memory_bytes=after.memory.total_bytes,
        boot_id=facts.boot_id,
        cpu_cores=_cores(
            before.cpu.busy_ticks if before else None,
            after.cpu.busy_ticks,
            per_core_s=_elapsed_s(before, after) * facts.ticks_per_s,
        ),
        memory_used_bytes=after.memory.used_bytes,
        memory_available_bytes=after.memory.available_bytes,
        swap_used_bytes=after.memory.swap_used_bytes,
        load_1m=after.load_1m,
        pressures=after.pressures,
        throughput=_throughput(
            before.io if before else IoCounters(), after.io, _elapsed_s(before, after)
        ),
        booted_at=facts.booted_at,
        pids=after.pids,
        most_pids=after.devices.most_pids,
        pods_memory_bytes=after.devices.pods_memory_bytes,
        most_pods_pids=after.devices.most_pods_pids,
        file_systems=after.devices.file_systems,
        interfaces=tuple(_interfaces(before, after)),
        temperatures=after.devices.temperatures,
    )


def _interfaces(
    before: MachineSnapshot | None, after: MachineSnapshot
) -> Iterator[NetworkInterface]:
    elapsed_s = _elapsed_s(before, after)
    earlier = before.io.interfaces if before else {}
    for name, counters in sorted(after.io.interfaces.items())[:MOST_INTERFACES]:
        link = after.devices.links.get(name, InterfaceLink())
        yield NetworkInterface(
            name=clean(name, longest=LONGEST_NAME),
            traffic=interface_rates(earlier.get(name), counters, elapsed_s),
            is_up=link.is_up,
            megabits=link.megabits,
        )


def _throughput(before: IoCounters, after: IoCounters, elapsed_s: float) -> Throughput:
    def per_s(earlier: int | None, later: int | None) -> float | None:
        moved = rate(earlier, later, elapsed_s)
        return None if moved is None else round(moved, 1)

    return Throughput(
        disk_read=per_s(before.disk_read_bytes, after.disk_read_bytes),
        disk_written=per_s(before.disk_written_bytes, after.disk_written_bytes),
        network_received=per_s(before.network_received_bytes, after.network_received_bytes),
        network_sent=per_s(before.network_sent_bytes, after.network_sent_bytes),
    )


def _shown(paths: Iterable[str]) -> dict[str, str]:
    """Each path as clean text, each text once: a group may have a name that looks like another's
    escaped one, and a report with two workloads of one name is refused as a whole."""
    shown: dict[str, str] = {}
    taken: set[str] = set()
    for path in sorted(paths):
        text = first = clean(path, longest=LONGEST_PATH)
        number = 1
        while text in taken:
            number += 1
            text = f"{first}~{number}"
        taken.add(text)
        shown[path] = text
    return shown


def _workloads(
    before: MachineSnapshot | None,
    after: MachineSnapshot,
    machine: Machine,
    members: Mapping[str, int],
    paths: Mapping[str, str],
    processes: Iterable[ProcessUsage],
) -> Iterator[Workload]:
    """The groups that hold processes, and those above them. The root is the machine itself."""
    yield Workload(
        path="/",
        kind="root",
        name="/",
        container_id=None,
        pod_uid=None,
        processes=members.get("/", 0),
        cpu_cores=machine.cpu_cores,
        memory_bytes=machine.memory_used_bytes,
        pressures=machine.pressures,
    )
    elapsed_us = _elapsed_s(before, after) * _US_PER_S
    counted: dict[str, float | None] = {}
    for path in paths:
        counters = after.groups.get(path, _NOT_READ)
        earlier = before.groups.get(path, _NOT_READ) if before else _NOT_READ
        if counters.cpu_us is not None:
            same = counters.inode == earlier.inode
            past_us = earlier.cpu_us if same else None
            counted[path] = _cores(past_us, counters.cpu_us, per_core_s=elapsed_us)
    cores = _with_sums(counted, processes, paths)
    for path, shown in paths.items():
        if path == "/":
            continue
        naming = name_group(path)
        counters = after.groups.get(path, _NOT_READ)
        yield Workload(
            path=shown,
            kind=naming.kind,
            name=clean(naming.name, longest=LONGEST_NAME),
            container_id=naming.container_id,
            pod_uid=naming.pod_uid,
            processes=members.get(path, 0),
            cpu_cores=cores[path],
            cpu_is_summed=path not in counted and cores[path] is not None,
            memory_bytes=counters.memory_bytes,
            pressures=counters.pressures,
            activity=after.activities.get(path),
        )


def _with_sums(
    counted: Mapping[str, float | None], processes: Iterable[ProcessUsage], paths: Mapping[str, str]
) -> Mapping[str, float | None]:
    """The cores that each group uses: its count, or else the sum of what is known of its members."""
    inside: dict[str, list[float]] = {path: [] for path in paths}
    by_shown = {shown: path for path, shown in paths.items()}
    for process in processes:
        if process.cpu_cores is not None:
            inside[by_shown[process.workload]].append(process.cpu_cores)
    cores: dict[str, float | None] = {}
    # Backwards, so that a group comes after those in it.
    for path in sorted(paths, reverse=True):
        known = inside[path]
        summed = round(sum(known), _DECIMALS) if known else None
        used = cores[path] = counted.get(path, summed)
        if path != "/" and used is not None:
            inside[path.rpartition("/")[0] or "/"].append(used)
    return cores


def _processes(
    before: MachineSnapshot | None,
    after: MachineSnapshot,
    facts: MachineFacts,
    runtimes: Mapping[ProcessId, DetectedRuntime],
    paths: Mapping[str, str],
) -> Iterator[ProcessUsage]:
    elapsed_ticks = _elapsed_s(before, after) * facts.ticks_per_s
    earlier = before.processes if before else {}
    for identity, process in sorted(after.processes.items()):
        detected = runtimes.get(identity, UNKNOWN)
        past = earlier.get(identity)
        yield ProcessUsage(
            pid=identity.pid,
            started_at=round(facts.booted_at + identity.started_ticks / facts.ticks_per_s, 2),
            workload=paths[process.path],
            command=clean(process.command, longest=LONGEST_COMMAND),
            script=None
            if detected.script is None
            else clean(detected.script, longest=LONGEST_NAME),
            runtime=detected.runtime,
            runtime_version=detected.version,
            threads=process.threads,
            cpu_cores=_cores(
                past.cpu_ticks if past else None, process.cpu_ticks, per_core_s=elapsed_ticks
            ),
            memory_bytes=process.memory_bytes,
        )
