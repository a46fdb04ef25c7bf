"""Names what an agent could not see, so that nobody takes its absence for zero."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.wire import Missing

from nemutator_agent.usage.hierarchies import Hierarchy


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Counts from one snapshot. What was seen is 0, False or empty."""

    as_root: bool = False
    denied_executables: int = 0
    hidden_processes: bool = False
    unplaced_processes: int = 0
    """Processes whose group lies outside of what is mounted here."""
    processes_over_cap: int = 0
    groups_over_cap: int = 0
    reads_over_cap: int = 0
    machine_pressure: bool = True
    machine_disks: bool = True
    machine_network: bool = True
    process_events: bool = True
    """Whether we hear of processes that begin, or may not expect to."""
    groups: int = 0
    groups_without_cpu: int = 0
    groups_without_memory: int = 0
    groups_without_pressure: int = 0
    hierarchies: tuple[Hierarchy, ...] = ()


def name_gaps(gaps: Gaps) -> tuple[Missing, ...]:
    return (*_rights(gaps), *_caps(gaps), *_kernel(gaps))


def _rights(gaps: Gaps) -> Iterator[Missing]:
    if gaps.denied_executables:
        yield Missing(
            f"executables of {_many(gaps.denied_executables, 'process', 'processes')}",
            ("not even root may see them here" if gaps.as_root else "they belong to other users")
            + "; their runtime is guessed from what they call themselves",
            "give observe CAP_SYS_PTRACE in the user namespace of the machine"
            if gaps.as_root
            else names.AS_ROOT,
        )
    if gaps.hidden_processes:
        yield Missing(
            "processes of other users",
            "/proc is mounted with hidepid",
            f"{names.AS_ROOT}, or mount /proc with gid= of a group that it is in",
        )
    if gaps.unplaced_processes:
        yield Missing(
            f"control groups of {_many(gaps.unplaced_processes, 'process', 'processes')}",
            "they lie outside of this container's cgroup namespace",
            "run observe in the host's cgroup namespace",
        )


def _caps(gaps: Gaps) -> Iterator[Missing]:
    for over, what, setting in (
        (gaps.processes_over_cap, "processes", "processes"),
        (gaps.groups_over_cap, "control groups", "groups"),
        (gaps.reads_over_cap, "counters", "descriptors"),
    ):
        if over:
            yield Missing(
                f"{over} {what}",
                f"there are more than the setting observe.{setting} allows",
                f"raise observe.{setting}"
                + (", and the open file limit (ulimit -n)" if setting == "descriptors" else ""),
            )


def _kernel(gaps: Gaps) -> Iterator[Missing]:
    if not gaps.machine_pressure:
        yield Missing(
            "pressure (PSI)",
            "/proc/pressure is not there: the kernel was built or booted without it",
            "boot with psi=1, on a kernel with CONFIG_PSI",
        )
    for seen, what, device in (
        (gaps.machine_disks, "what the disks move", "disk"),
        (gaps.machine_network, "what the network moves", "network interface"),
    ):
        if not seen:
            yield Missing(
                what,
                f"no {device} with a device behind it is seen here",
                "run observe on the machine itself, or in a container with hostPID and SYS_PTRACE",
            )
    if not gaps.process_events:
        yield Missing(
            "processes that live between two snapshots",
            "the kernel does not tell us of them (CONFIG_PROC_EVENTS), or only in another namespace",
            "run observe in the machine's own network, on a kernel with CONFIG_PROC_EVENTS",
        )
    if not gaps.hierarchies:
        yield Missing("control groups", "none are mounted here", "mount cgroup2 at /sys/fs/cgroup")
    unified = any(hierarchy.version == 2 for hierarchy in gaps.hierarchies)
    legacy = any(hierarchy.version == 1 for hierarchy in gaps.hierarchies)
    for without, what, remedy in (
        (gaps.groups_without_cpu, "CPU", "CPUAccounting=yes"),
        (gaps.groups_without_memory, "memory", "MemoryAccounting=yes"),
    ):
        if without:
            yield Missing(
                f"{what} of {_of(without, gaps.groups)}",
                "no controller counts it for them"
                + (
                    "; their processes are added up instead, as far as they are seen"
                    if what == "CPU"
                    else ""
                )
                + (" (control groups of version 1 differ per controller)" if legacy else ""),
                f"boot with systemd.unified_cgroup_hierarchy=1; under systemd set {remedy}"
                if legacy
                else f"under systemd set {remedy}; some kernels need cgroup_enable={what.lower()}",
            )
    if gaps.groups_without_pressure and gaps.machine_pressure:
        yield Missing(
            f"pressure of {_of(gaps.groups_without_pressure, gaps.groups)}",
            "it is turned off for them (cgroup.pressure)"
            if unified and not legacy
            else "control groups of version 1 do not have it",
            "write 1 to their cgroup.pressure"
            if unified and not legacy
            else "boot with systemd.unified_cgroup_hierarchy=1",
        )


def _many(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _of(some: int, all_: int) -> str:
    return "all control groups" if some == all_ else f"{some} of {all_} control groups"


def hides_processes(mountinfo: bytes) -> bool:
    """Whether /proc shows ordinary users only their own processes (proc(5), hidepid)."""
    return any(_hides(line) for line in mountinfo.splitlines() if b" - proc " in line)


def _hides(line: bytes) -> bool:
    options: Iterable[bytes] = line.rpartition(b" ")[2].split(b",")
    return not {b"hidepid=2", b"hidepid=invisible", b"hidepid=4", b"hidepid=ptraceable"}.isdisjoint(
        options
    )
