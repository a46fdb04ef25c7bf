"""The document of /api/v1/workloads, and the parts that others share with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common import names

from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.model import (
    LevelSums,
    Tally,
    WorkloadFigures,
)
from nemutator_controller.prices import Prices


class Used(msgspec.Struct, frozen=True, gc=False):
    """CPU in cores and memory in bytes; None is not known."""

    cpu_cores: float | None
    memory_bytes: int | None


class Network(msgspec.Struct, frozen=True, gc=False):
    received: float | None
    """Bytes per second."""
    sent: float | None


class PodCounts(msgspec.Struct, frozen=True, gc=False):
    count: int
    ready: int
    pending: int
    unscheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Of some pods together."""

    pods: PodCounts
    requested: Used
    limits: Used
    used: Used
    network: Network
    restarts: int
    oom_ended: int
    throttled: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerWaiting:
    """PSI: the largest percentage of the last minute, or less, in which some task of one container waited."""

    cpu: float | None
    memory: float | None
    io: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseOverTime:
    now: Used
    usual: Used
    """CPU: the median; memory: what 95 of 100 daily peaks do not exceed. Of all pods together."""
    worst: Used
    """CPU: the 95th percentile; memory: the largest peak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    wanted: int | None
    """None where it is no number of its own, as of a CronJob."""
    ready: int
    pods: int
    pending: int
    unscheduled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAutoscaler:
    name: str
    min_replicas: int
    max_replicas: int
    current_replicas: int
    desired_replicas: int
    metrics: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBudget:
    name: str
    min_available: int | str | None
    max_unavailable: int | str | None
    disruptions_allowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadItem:
    namespace: str
    kind: str
    name: str
    labels: Mapping[str, str]
    replicas: Replicas
    strategy: str | None
    requests: Used
    """Of all its pods, as the scheduler counts."""
    limits: Used
    use: UseOverTime
    waste: Used
    restarts: int
    oom_ended: int
    """Containers whose last run the kernel ended for memory."""
    throttled: float | None
    """The largest share of CFS periods in which a container is stopped now."""
    waiting: ContainerWaiting | None = None
    """None is of a brain that does not tell."""
    network: Network
    nodes: int
    autoscaler: ShownAutoscaler | None
    vertical_autoscaler: str | None
    """The update mode of the VerticalPodAutoscaler that is for it."""
    disruption_budget: ShownBudget | None
    processes: int | None
    """Off clusters, where there are no pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTotals:
    workloads: int
    sums: Sums
    waste: Used


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "WorkloadList"
    now: float
    counted_at: float
    totals: WorkloadTotals
    """Of all that the filters admit, not of this page alone."""
    next: str
    remaining: int
    prices: Prices | None = None
    """Of this cluster; None where nobody has written any."""
    items: Sequence[WorkloadItem]


UNKNOWN = Used(None, None)


def used_of(amount: CpuMemory | None) -> Used:
    return UNKNOWN if amount is None else Used(amount.cpu_millis / 1000, amount.memory_bytes)


def now_of(tally: Tally) -> Used:
    return Used(rounded(tally.cpu_cores), tally.memory_bytes)


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def counts_of(tally: Tally) -> PodCounts:
    return PodCounts(tally.pods, tally.ready, tally.pending, tally.unscheduled)


def sums_document(tally: Tally) -> Sums:
    return Sums(
        pods=counts_of(tally),
        requested=used_of(tally.requests),
        limits=used_of(tally.limits),
        used=now_of(tally),
        network=_network(tally),
        restarts=tally.restarts,
        oom_ended=tally.oom_ended,
        throttled=rounded(tally.throttled),
    )


def workload_item(figures: WorkloadFigures) -> WorkloadItem:
    namespace, kind, name = figures.key
    tally, levels = figures.tally, figures.levels
    vertical, budget = figures.vertical_autoscaler, figures.disruption_budget
    return WorkloadItem(
        namespace=namespace,
        kind=kind,
        name=name,
        labels=figures.labels,
        replicas=Replicas(
            wanted=figures.wanted,
            ready=figures.ready,
            pods=tally.pods,
            pending=tally.pending,
            unscheduled=tally.unscheduled,
        ),
        strategy=_strategy(figures),
        requests=used_of(tally.requests),
        limits=used_of(tally.limits),
        use=use_document(tally, levels),
        waste=used_of(figures.waste),
        restarts=tally.restarts,
        oom_ended=tally.oom_ended,
        throttled=rounded(tally.throttled),
        waiting=ContainerWaiting(
            cpu=rounded(tally.cpu_waiting),
            memory=rounded(tally.memory_waiting),
            io=rounded(tally.disk_waiting),
        ),
        network=_network(tally),
        nodes=len({each.pod.spec.node_name for each in figures.pods} - {""}),
        autoscaler=_autoscaler(figures),
        vertical_autoscaler=(
            None
            if vertical is None
            else "Auto"
            if vertical.spec.update_policy is None
            else vertical.spec.update_policy.update_mode
        ),
        disruption_budget=(
            None
            if budget is None
            else ShownBudget(
                name=budget.metadata.name,
                min_available=budget.spec.min_available,
                max_unavailable=budget.spec.max_unavailable,
                disruptions_allowed=budget.status.disruptions_allowed,
            )
        ),
        processes=sum(each.processes for each in figures.programs) if figures.programs else None,
    )


def use_document(tally: Tally, levels: LevelSums | None) -> UseOverTime:
    return UseOverTime(
        now=now_of(tally),
        usual=used_of(None if levels is None else levels.usual),
        worst=used_of(None if levels is None else levels.worst),
    )


def workload_totals(several: Iterable[WorkloadFigures]) -> WorkloadTotals:
    total, waste, workloads = Tally(), CpuMemory(), 0
    for each in several:
        workloads += 1
        total.add(each.tally)
        if each.waste is not None:
            waste += each.waste
    return WorkloadTotals(workloads=workloads, sums=sums_document(total), waste=used_of(waste))


def workload_item_totals(several: Iterable[WorkloadItem]) -> WorkloadTotals:
    """The same of items that another cluster shows."""
    items = list(several)
    replicas = [each.replicas for each in items]
    throttled = [each.throttled for each in items if each.throttled is not None]
    return WorkloadTotals(
        workloads=len(items),
        sums=Sums(
            pods=PodCounts(
                sum(each.pods for each in replicas),
                sum(each.ready for each in replicas),
                sum(each.pending for each in replicas),
                sum(each.unscheduled for each in replicas),
            ),
            requested=used_sum(each.requests for each in items),
            limits=used_sum(each.limits for each in items),
            used=used_sum(each.use.now for each in items),
            network=Network(
                known_sum(each.network.received for each in items),
                known_sum(each.network.sent for each in items),
            ),
            restarts=sum(each.restarts for each in items),
            oom_ended=sum(each.oom_ended for each in items),
            throttled=max(throttled, default=None),
        ),
        waste=used_sum(each.waste for each in items),
    )


def used_sum(several: Iterable[Used]) -> Used:
    """Of what is known."""
    amounts = list(several)
    memory = [each.memory_bytes for each in amounts if each.memory_bytes is not None]
    return Used(known_sum(each.cpu_cores for each in amounts), sum(memory) if memory else None)


def known_sum(several: Iterable[float | None]) -> float | None:
    known = [each for each in several if each is not None]
    return rounded(sum(known)) if known else None


def _network(tally: Tally) -> Network:
    return Network(rounded(tally.network_received), rounded(tally.network_sent))


def _strategy(figures: WorkloadFigures) -> str | None:
    if figures.workload is None:
        return None
    spec = figures.workload.spec
    return spec.strategy.type or spec.update_strategy.type or None


def _autoscaler(figures: WorkloadFigures) -> ShownAutoscaler | None:
    found = figures.autoscaler
    if found is None:
        return None
    spec, status = found.spec, found.status
    return ShownAutoscaler(
        name=found.metadata.name,
        min_replicas=1 if spec.min_replicas is None else spec.min_replicas,
        max_replicas=spec.max_replicas,
        current_replicas=status.current_replicas,
        desired_replicas=status.desired_replicas,
        metrics=[
            each.resource.name or each.container_resource.name or each.type
            for each in spec.metrics or ()
        ],
    )
