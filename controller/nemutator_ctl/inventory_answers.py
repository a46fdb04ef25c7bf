"""The inventory of a cluster as typed values: raw JSON goes no further than this file."""

from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, understood

INVENTORY_NODES = "/api/v1/nodes"
INVENTORY_WORKLOADS = "/api/v1/workloads"


@dataclass(frozen=True, slots=True)
class ShownUse:
    cpu_cores: Amount | None
    memory_bytes: Amount | None


NO_USE = ShownUse(None, None)
"""Of a brain that does not say it yet."""


@dataclass(frozen=True, slots=True)
class ShownPods:
    count: int
    ready: int
    pending: int
    unscheduled: int


@dataclass(frozen=True, slots=True)
class ShownNodeCondition:
    type: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    name: str
    age_s: Amount | None
    stale: bool
    ready: bool | None
    unschedulable: bool
    allocatable: ShownUse
    requested: ShownUse
    limits: ShownUse
    used: ShownUse
    pods: ShownPods
    most_pods: int | None
    conditions: tuple[ShownNodeCondition, ...]
    taints: tuple[str, ...]
    waste: ShownUse = NO_USE
    raw_cpu_cores: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTotalsRow:
    nodes: int
    ready: int
    stale: int
    allocatable: ShownUse
    requested: ShownUse
    limits: ShownUse
    used: ShownUse
    pods: int
    waste: ShownUse = NO_USE


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer:
    totals: NodeTotalsRow
    items: tuple[NodeRow, ...]
    next: str = ""
    remaining: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReplicas:
    wanted: int | None
    ready: int
    pods: int
    pending: int


@dataclass(frozen=True, slots=True)
class ShownLevels:
    now: ShownUse
    usual: ShownUse
    worst: ShownUse


@dataclass(frozen=True, slots=True)
class ShownNetwork:
    received: Amount | None
    sent: Amount | None


@dataclass(frozen=True, slots=True)
class ScalerCell:
    min_replicas: int
    max_replicas: int


@dataclass(frozen=True, slots=True)
class BudgetCell:
    name: str
    disruptions_allowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRow:
    namespace: str
    kind: str
    name: str
    replicas: ShownReplicas
    strategy: str | None
    requests: ShownUse
    limits: ShownUse
    use: ShownLevels
    waste: ShownUse
    restarts: int
    oom_ended: int
    throttled: Amount | None
    network: ShownNetwork
    nodes: int
    autoscaler: ScalerCell | None
    vertical_autoscaler: str | None
    disruption_budget: BudgetCell | None
    processes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTotals:
    pods: ShownPods
    requested: ShownUse
    limits: ShownUse
    used: ShownUse
    restarts: int
    oom_ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTotalsRow:
    workloads: int
    sums: ShownTotals
    waste: ShownUse


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadAnswer:
    totals: WorkloadTotalsRow
    items: tuple[WorkloadRow, ...]
    next: str = ""
    remaining: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceRow:
    name: str
    workloads: int
    sums: ShownTotals
    waste: ShownUse
    quotas: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceAnswer:
    totals: WorkloadTotalsRow
    items: tuple[NamespaceRow, ...]


def node_answer(document: object) -> NodeAnswer:
    return understood(document, NodeAnswer, "a list of nodes")


def workload_answer(document: object) -> WorkloadAnswer:
    return understood(document, WorkloadAnswer, "a list of workloads")


def namespace_answer(document: object) -> NamespaceAnswer:
    return understood(document, NamespaceAnswer, "sums of namespaces")


def cores(use: ShownUse) -> str:
    """As Kubernetes writes CPU: thousandths of a core."""
    return "-" if use.cpu_cores is None else f"{round(use.cpu_cores * 1000)}m"


def mebibytes(use: ShownUse) -> str:
    return "-" if use.memory_bytes is None else f"{round(use.memory_bytes / (1 << 20))}Mi"


def per_second(rate: Amount | None) -> str:
    if rate is None:
        return "-"
    return f"{rate / 1024:.0f}Ki/s" if rate < 10 << 20 else f"{rate / (1 << 20):.0f}Mi/s"
