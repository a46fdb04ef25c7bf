"""A snapshot of a machine: its counters at one moment, as they were read."""

from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common.wire import Pressures

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.gaps import Gaps
from nemutator_agent.usage.machine_files import CpuTimes, MemoryUse


@dataclass(frozen=True, slots=True)
class GroupCounters:
    """The counters of a control group and all below it; None where one could not be read."""

    inode: int | None
    """A group that is made anew under an old path starts at zero and has another inode."""
    cpu_us: int | None
    memory_bytes: int | None
    pressures: Pressures


@dataclass(frozen=True, slots=True)
class ProcessCounters:
    path: str
    """The path of its group."""
    command: bytes
    threads: int
    cpu_ticks: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IoCounters:
    """Bytes since the machine was started; None where they could not be read."""

    disk_read_bytes: int | None = None
    disk_written_bytes: int | None = None
    network_received_bytes: int | None = None
    network_sent_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """What does not change while the machine runs."""

    kernel: str
    system: str
    boot_id: str
    booted_at: float
    ticks_per_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSnapshot:
    at: float
    """The time by the wall clock."""
    monotonic: float
    cpu: CpuTimes
    memory: MemoryUse
    load_1m: float
    pressures: Pressures
    io: IoCounters
    groups: Mapping[str, GroupCounters]
    """By path, without the root, which is the machine."""
    processes: Mapping[ProcessId, ProcessCounters]
    gaps: Gaps
