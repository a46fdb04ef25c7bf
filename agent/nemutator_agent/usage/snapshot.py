"""A snapshot of a machine: its counters at one moment, as they were read.

What there is one of for each group and each process is a tuple: of a frozen dataclass with slots, every field is
set by a call of its own, and a full node has 650 of them in each snapshot.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nemutator_common.wire import Pressures
from nemutator_common.wire_activity import Activity, FileSystem, Temperature

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.gaps import Gaps
from nemutator_agent.usage.machine_files import CpuTimes, MemoryUse
from nemutator_agent.usage.network_files import InterfaceCounters


class Stalls(NamedTuple):
    """For how many microseconds some task of a group has waited since it was made, read at one moment."""

    at: float
    """By the monotonic clock."""
    cpu_us: int | None
    memory_us: int | None
    io_us: int | None
    refaulted_bytes: int | None = None
    """Of files, that had been in its memory and had to be read again."""


class Waits(NamedTuple):
    """The percentage of the time between two readings of `Stalls`; None is not known."""

    cpu: float | None
    memory: float | None
    io: float | None
    refaulted: float | None = None
    """Bytes per second."""


class GroupCounters(NamedTuple):
    """The counters of a control group and all below it; None where one could not be read."""

    inode: int | None
    """A group that is made anew under an old path starts at zero and has another inode."""
    cpu_us: int | None
    memory_bytes: int | None
    pressures: Pressures
    charged_bytes: int | None = None
    """Memory with the inactive page cache."""
    stalls: Stalls | None = None
    waits: Waits | None = None
    """Until the last reading of *stalls*; None before the second one."""


class ProcessCounters(NamedTuple):
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
    interfaces: Mapping[str, InterfaceCounters] = field(default_factory=dict)
    """Those with a device behind them."""


@dataclass(frozen=True, slots=True)
class InterfaceLink:
    is_up: bool | None = None
    megabits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDevices:
    """What changes slowly, and is read once a minute."""

    file_systems: tuple[FileSystem, ...] = ()
    links: Mapping[str, InterfaceLink] = field(default_factory=dict)
    temperatures: tuple[Temperature, ...] = ()
    most_pids: int | None = None
    pods_memory_bytes: int | None = None
    most_pods_pids: int | None = None


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
    activities: Mapping[str, Activity] = field(default_factory=dict)
    """Of groups, by path."""
    devices: MachineDevices = MachineDevices()
    pids: int | None = None
