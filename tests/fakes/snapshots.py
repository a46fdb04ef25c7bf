"""Looks at machines that do not exist."""

from collections.abc import Mapping

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.gaps import Gaps
from nemutator_agent.usage.machine_files import CpuTimes, MemoryUse
from nemutator_agent.usage.snapshot import (
    GroupCounters,
    IoCounters,
    MachineDevices,
    MachineFacts,
    MachineSnapshot,
    ProcessCounters,
)
from nemutator_common.wire import Pressures
from nemutator_common.wire_activity import Activity

FACTS = MachineFacts(
    kernel="6.1.0", system="Debian", boot_id="b", booted_at=1_700_000_000.0, ticks_per_s=100
)


def process(path: str = "/", *, cpu_ticks: int = 0, command: bytes = b"app") -> ProcessCounters:
    return ProcessCounters(path, command, 1, cpu_ticks, 4096)


def group(cpu_us: int | None, *, inode: int | None = 7) -> GroupCounters:
    return GroupCounters(inode, cpu_us, 1000, Pressures())


def snapshot(
    monotonic: float,
    *,
    busy_ticks: int = 0,
    groups: Mapping[str, GroupCounters] | None = None,
    processes: Mapping[ProcessId, ProcessCounters] | None = None,
    io: IoCounters | None = None,
    gaps: Gaps | None = None,
    activities: Mapping[str, Activity] | None = None,
    devices: MachineDevices | None = None,
) -> MachineSnapshot:
    return MachineSnapshot(
        at=1_700_000_100.0 + monotonic,
        monotonic=monotonic,
        cpu=CpuTimes(busy_ticks, 2, 1_700_000_000),
        memory=MemoryUse(total_bytes=1000, used_bytes=600, available_bytes=500, swap_used_bytes=0),
        load_1m=0.5,
        pressures=Pressures(),
        io=io or IoCounters(),
        groups=groups or {},
        processes=processes or {},
        gaps=gaps or Gaps(),
        activities=activities or {},
        devices=devices or MachineDevices(),
    )
