"""The cluster of one moment, counted: pods with what they request and use, by workload, namespace and node."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from nemutator_common.names import RAW_CPU

from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.inventory.amounts import NOTHING, CpuMemory, cpu_memory
from nemutator_controller.inventory.counted_pods import CountedPods
from nemutator_controller.kube.node_objects import Service, WatchedNode
from nemutator_controller.kube.workload_objects import (
    Autoscaler,
    DisruptionBudget,
    VerticalAutoscaler,
    WatchedWorkload,
)

WorkloadKey = tuple[str, str, str]
"""Namespace, kind and name."""


ContainerName = tuple[str, str, str, str]
"""Namespace, kind and name of the workload, and the container."""


class Tally(msgspec.Struct, gc=False):
    """Sums over pods. It is written while it is made, and never again."""

    pods: int = 0
    ready: int = 0
    pending: int = 0
    """Without a node, or not started on it."""
    unscheduled: int = 0
    """Without a node."""
    restarts: int = 0
    oom_ended: int = 0
    """Containers whose last run ended because the kernel killed it for memory."""
    requests: CpuMemory = NOTHING
    limits: CpuMemory = NOTHING
    cpu_cores: float | None = None
    """In use now; None: not known of any."""
    memory_bytes: int | None = None
    throttled: float | None = None
    """The largest share of CFS periods in which a container of them was stopped."""
    cpu_waiting: float | None = None
    """This and the next two are PSI: the largest percentage of time in which some task of a container waited."""
    memory_waiting: float | None = None
    disk_waiting: float | None = None
    network_received: float | None = None
    network_sent: float | None = None

    def add(self, other: "Tally") -> None:
        self.pods += other.pods
        self.ready += other.ready
        self.pending += other.pending
        self.unscheduled += other.unscheduled
        self.restarts += other.restarts
        self.oom_ended += other.oom_ended
        self.requests += other.requests
        self.limits += other.limits
        self.cpu_cores = added(self.cpu_cores, other.cpu_cores)
        if other.memory_bytes is not None:
            self.memory_bytes = (self.memory_bytes or 0) + other.memory_bytes
        self.throttled = larger(self.throttled, other.throttled)
        self.cpu_waiting = larger(self.cpu_waiting, other.cpu_waiting)
        self.memory_waiting = larger(self.memory_waiting, other.memory_waiting)
        self.disk_waiting = larger(self.disk_waiting, other.disk_waiting)
        self.network_received = added(self.network_received, other.network_received)
        self.network_sent = added(self.network_sent, other.network_sent)


def added(one: float | None, other: float | None) -> float | None:
    """The sum of what is known."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def larger(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


@dataclass(frozen=True, slots=True)
class UseLevels:
    """What a container of a workload used for days, in each of its pods."""

    cpu_usual: float
    """The median, in cores."""
    cpu_worst: float
    """The 95th percentile, which advice is made from."""
    memory_usual: int
    """What 95 of 100 daily peaks do not exceed."""
    memory_worst: int
    """The largest peak."""


@dataclass(frozen=True, slots=True)
class LevelSums:
    """`UseLevels` of all containers of all pods together."""

    usual: CpuMemory
    worst: CpuMemory


def level_sums(several: Sequence[UseLevels]) -> LevelSums:
    return LevelSums(
        CpuMemory(
            round(sum(each.cpu_usual for each in several) * 1000),
            sum(each.memory_usual for each in several),
        ),
        CpuMemory(
            round(sum(each.cpu_worst for each in several) * 1000),
            sum(each.memory_worst for each in several),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramUse:
    """What the processes of one name in a group use, on a machine without pods."""

    name: str
    runtime: str | None
    processes: int
    cpu_cores: float | None
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFigures:
    key: WorkloadKey
    workload: WatchedWorkload | None
    """None: of a kind that is not watched, or not seen yet."""
    tally: Tally
    pods: CountedPods
    wanted: int | None
    ready: int
    levels: LevelSums | None
    """None: not known of each container."""
    waste: CpuMemory | None
    """What is requested, and would not be used at the worst that is known."""
    labels: Mapping[str, str]
    autoscaler: Autoscaler | None = None
    vertical_autoscaler: VerticalAutoscaler | None = None
    disruption_budget: DisruptionBudget | None = None
    programs: tuple[ProgramUse, ...] = ()
    """In the place of pods, off clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFigures:
    name: str
    node: WatchedNode | None
    """None: pods name it, and it is not seen yet."""
    allocatable: CpuMemory
    capacity: CpuMemory
    most_pods: int | None
    tally: Tally
    is_ready: bool
    waste: CpuMemory = NOTHING
    """Of its pods, as far as it is known of their workloads."""

    @property
    def raw_cpu_millis(self) -> int:
        """What kubelet has for pods: of an oversold node less than it is said to have."""
        text = "0" if self.node is None else self.node.metadata.annotations.get(RAW_CPU, "0")
        kept = cpu_memory({"cpu": text}).cpu_millis
        said = self.allocatable.cpu_millis, self.capacity.cpu_millis, kept
        return min((one for one in said if one > 0), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFigures:
    name: str
    tally: Tally
    workloads: int
    waste: CpuMemory
    """Of the workloads of which it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFigures:
    """All of it, which nobody changes any more."""

    taken_at: float
    nodes: Mapping[str, NodeFigures] = field(default_factory=dict)
    workloads: Mapping[WorkloadKey, WorkloadFigures] = field(default_factory=dict)
    """In the order of their keys."""
    namespaces: Mapping[str, NamespaceFigures] = field(default_factory=dict)
    total: Tally = field(default_factory=Tally)
    waste: CpuMemory = NOTHING
    objects: ObjectsSnapshot = field(default_factory=ObjectsSnapshot)
    services: Mapping[str, Sequence[Service]] = field(default_factory=dict)
    """By namespace."""

    def services_of(self, namespace: str) -> Iterable[Service]:
        return self.services.get(namespace, ())
