"""The document of /api/v1/nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.cluster.node_list import ListedNode
from nemutator_controller.cluster.nodes import NodeSums
from nemutator_controller.inventory.documents import (
    UNKNOWN,
    PodCounts,
    Used,
    counts_of,
    now_of,
    rounded,
    used_of,
    used_sum,
)
from nemutator_controller.inventory.model import NodeFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCondition:
    type: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeItem:
    """A node: what its agent says of it, and what Kubernetes does. Either may be missing."""

    name: str
    seen_at: float | None
    age_s: float | None
    stale: bool
    sums: NodeSums | None
    """Of the last report; None: it has never reported."""
    ready: bool | None
    """None off clusters."""
    unschedulable: bool
    allocatable: Used
    """What pods can request of it; off clusters, the machine."""
    capacity: Used
    requested: Used
    """What the scheduler counts for the pods on it."""
    limits: Used
    used: Used
    """Of the whole machine, as its agent sees it."""
    used_by_pods: Used
    pods: PodCounts
    most_pods: int | None
    conditions: list[ShownCondition]
    taints: list[str]
    labels: Mapping[str, str]
    waste: Used = UNKNOWN
    """What its pods request, and would not use at the worst that is known."""
    raw_cpu_cores: float | None = None
    """What kubelet has for pods, where allocatable says more; None: it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTotals:
    nodes: int
    ready: int
    stale: int
    allocatable: Used
    requested: Used
    limits: Used
    used: Used
    pods: int
    waste: Used = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryNodeList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "NodeList"
    now: float
    counted_at: float
    """When pods were counted; a few seconds ago at most, longer where there are very many."""
    totals: NodeTotals
    next: str = ""
    remaining: int = 0
    items: list[NodeItem]


def node_item(figures: NodeFigures, reported: ListedNode | None) -> NodeItem:
    node = figures.node
    sums = None if reported is None else reported.sums
    return NodeItem(
        name=figures.name,
        seen_at=None if reported is None else reported.seen_at,
        age_s=None if reported is None else reported.age_s,
        stale=reported is None or reported.stale,
        sums=sums,
        ready=figures.is_ready,
        unschedulable=node is not None and node.spec.unschedulable,
        allocatable=used_of(figures.allocatable),
        capacity=used_of(figures.capacity),
        requested=used_of(figures.tally.requests),
        limits=used_of(figures.tally.limits),
        used=UNKNOWN if sums is None else Used(rounded(sums.cpu_cores), sums.memory_used_bytes),
        used_by_pods=now_of(figures.tally),
        pods=counts_of(figures.tally),
        most_pods=figures.most_pods,
        conditions=[
            ShownCondition(type=each.type, status=each.status, reason=each.reason)
            for each in (() if node is None else node.status.conditions)
        ],
        taints=[
            f"{each.key}{'=' + each.value if each.value else ''}:{each.effect}"
            for each in (() if node is None else node.spec.taints)
        ],
        labels={} if node is None else node.metadata.labels,
        waste=used_of(figures.waste),
        raw_cpu_cores=figures.raw_cpu_millis / 1_000
        if figures.raw_cpu_millis < figures.allocatable.cpu_millis
        else None,
    )


def machine_item(reported: ListedNode) -> NodeItem:
    """A machine that is in no cluster: all of it can be used, and nobody requests anything."""
    sums = reported.sums
    whole, nothing = Used(float(sums.cpus), sums.memory_bytes), Used(0.0, 0)
    return NodeItem(
        name=reported.name,
        seen_at=reported.seen_at,
        age_s=reported.age_s,
        stale=reported.stale,
        sums=sums,
        ready=None,
        unschedulable=False,
        allocatable=whole,
        capacity=whole,
        requested=nothing,
        limits=nothing,
        used=Used(rounded(sums.cpu_cores), sums.memory_used_bytes),
        used_by_pods=UNKNOWN,
        pods=PodCounts(0, 0, 0, 0),
        most_pods=None,
        conditions=[],
        taints=[],
        labels={},
    )


def node_totals(items: Iterable[NodeItem]) -> NodeTotals:
    nodes = list(items)
    return NodeTotals(
        nodes=len(nodes),
        ready=sum(each.ready is True for each in nodes),
        stale=sum(each.stale for each in nodes),
        allocatable=used_sum(each.allocatable for each in nodes),
        requested=used_sum(each.requested for each in nodes),
        limits=used_sum(each.limits for each in nodes),
        used=used_sum(each.used for each in nodes),
        pods=sum(each.pods.count for each in nodes),
        waste=used_sum(each.waste for each in nodes),
    )
