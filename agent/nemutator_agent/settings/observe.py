"""Settings of the process that observes the machine and profiles what runs there."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from nemutator_common import names
from nemutator_common.settings import between, setting
from nemutator_common.shipping.settings import CallsBrain
from nemutator_common.wire import (
    HIGHEST_PROFILE_HZ,
    LONGEST_PROFILE_S,
    USUAL_HIGHEST_PROFILE_HZ,
    USUAL_LONGEST_PROFILE_S,
)

from nemutator_agent.settings.common_checks import node, reported_name


def _interval(value: float) -> str | None:
    return None if value == 0 or 0.5 <= value <= 60 else "expected 0, or a number from 0.5 to 60"


class WindowPace(NamedTuple):
    """In seconds."""

    age_s: float
    """Of the youngest process that windows look at."""
    every_s: float
    """Between two looks at the heap of one process."""
    cpu_s: float
    """How long a window of CPU time takes."""
    cpu_every_s: float
    """From the beginning of one to that of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveSettings(CallsBrain):
    """`nemutator-agent observe`."""

    role: ClassVar[str] = names.OBSERVE

    node: str = setting(
        "", "Name under which this machine is reported; empty: its host name.", check=node
    )
    interval_s: float = setting(
        0.0,
        "Seconds between two snapshots of the machine; 0: 7.5 in a cluster, 3 where the brain is on this"
        " machine.",
        check=_interval,
    )
    summary_s: float = setting(
        15.0,
        "Seconds that one summary of a container's use spans: what advice on its size learns from.",
        check=between(1, 300),
    )
    processes: int = setting(
        4096, "Most processes in a report; the others are counted.", check=between(1, 20_000)
    )
    groups: int = setting(
        2048, "Most control groups whose counters are read.", check=between(1, 4_000)
    )
    descriptors: int = setting(
        16_384,
        "Most files of /proc and of control groups that are kept open, six or less per group and "
        "one per process; never more than the open file limit leaves.",
        check=between(16, 1_000_000),
    )
    flows: bool = setting(
        False,
        "Report with which peers pods exchange most over TCP, one pod at a time. It needs CAP_SYS_ADMIN, to"
        " enter the network of a pod.",
    )
    flow_s: float = setting(
        60.0,
        "Seconds between the two looks at the connections of a pod; then the next pod has its turn.",
        check=between(1, 3600),
    )
    run_queues: bool = setting(
        False,
        "Time in the kernel, at each switch of a CPU from one thread to another, how long threads of control groups"
        " waited for their turn: the 99th percentile is reported beside the mean. It needs CAP_BPF and CAP_PERFMON,"
        " as profiles do.",
    )
    buffered_reports: int = setting(
        1_000,
        "Most reports that wait for the brain; then the oldest go.",
        check=between(1, 100_000),
    )

    profile_seconds: float = setting(
        USUAL_LONGEST_PROFILE_S,
        "Longest time that one profile may take, in seconds.",
        check=between(1, LONGEST_PROFILE_S),
    )
    profile_hz: int = setting(
        USUAL_HIGHEST_PROFILE_HZ,
        "Most samples that a profile may take per second and CPU.",
        check=between(1, HIGHEST_PROFILE_HZ),
    )
    sampling_engine: Literal["auto", "libbpf", "bcc"] = setting(
        "auto",
        "What brings sampling programs into the kernel: libbpf, by the kernel's BTF; bcc, by its headers;"
        " auto: libbpf where there is BTF, else bcc where it is installed with the headers.",
    )
    windows: bool = setting(
        True,
        "Look at Go processes that have run for long, without being asked, at their heaps and at where"
        " their CPU time goes: that is how leaks, and functions that take more and more, are found.",
    )
    window_age_s: float = setting(
        0.0,
        "Seconds that a process must have run to be looked at; 0: an hour in a cluster, a minute where"
        " the brain is on this machine.",
        check=between(0, 30 * 86_400),
    )
    window_every_s: float = setting(
        0.0,
        "Seconds between two looks at the heap of one process; 0: ten minutes in a cluster, half a"
        " minute where the brain is on this machine.",
        check=between(0, 86_400),
    )
    window_cpu_s: float = setting(
        0.0,
        "Seconds that one window of CPU time takes; 0: 30 in a cluster, 10 where the brain is on this"
        " machine. It is at most half of the time between two.",
        check=between(0, 600),
    )
    window_cpu_every_s: float = setting(
        0.0,
        "Seconds between two windows of CPU time, each of which is of all processes of the node; 0: ten"
        " minutes in a cluster, two minutes where the brain is on this machine.",
        check=between(0, 86_400),
    )
    window_hz: int = setting(
        49,
        "Samples that such a window takes per second and CPU, fewer on a node with many CPUs; 0: no"
        " windows of CPU time.",
        check=between(0, USUAL_HIGHEST_PROFILE_HZ),
    )
    window_processes: int = setting(
        200, "Most processes that are looked at; the oldest come first.", check=between(1, 2_000)
    )
    window_cpu_percent: float = setting(
        5.0,
        "Budget of all looks, in percent of one CPU; what would pass it waits, and is told.",
        check=between(0.1, 100),
    )
    window_memory_bytes: int = setting(
        256 << 20,
        "Memory of this process above which no look begins, in bytes.",
        check=between(32 << 20, 4 << 30),
    )

    @property
    def is_brain_local(self) -> bool:
        """Whether this machine stands alone: the brain of a cluster is called over TLS."""
        return not self.brain.startswith("https:")

    @property
    def snapshot_every_s(self) -> float:
        """On a machine that stands alone somebody watches; a full node of a cluster must be cheap."""
        return self.interval_s or (3.0 if self.is_brain_local else 7.5)

    @property
    def seldom_s(self) -> float:
        """Seconds between two readings of what a group does beside CPU and memory."""
        return 5 * self.snapshot_every_s if self.is_brain_local else 8 * self.snapshot_every_s

    @property
    def members_s(self) -> float:
        """Seconds between two readings of what the threads of a group waited for."""
        return min(60.0, 20 * self.snapshot_every_s if self.is_brain_local else self.seldom_s)

    @property
    def window_pace(self) -> WindowPace:
        alone = self.is_brain_local
        usual = (
            WindowPace(60.0, 30.0, 10.0, 120.0) if alone else WindowPace(3600.0, 600.0, 30.0, 600.0)
        )
        cpu_every_s = self.window_cpu_every_s or usual.cpu_every_s
        return WindowPace(
            age_s=self.window_age_s or usual.age_s,
            every_s=self.window_every_s or usual.every_s,
            cpu_s=min(self.window_cpu_s or usual.cpu_s, cpu_every_s / 2),
            cpu_every_s=cpu_every_s,
        )

    def name_of(self, host: str) -> str:
        """What the machine called *host* is reported as; a brain refuses what is not a host name."""
        return reported_name(self.node, host)
