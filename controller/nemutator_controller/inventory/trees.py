"""Workloads as a tree: cluster, namespaces, workloads, pods, containers; off clusters, programs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.inventory.amounts import cpu_memory
from nemutator_controller.inventory.counted_pods import CountedPod, CountedPods
from nemutator_controller.inventory.current_use import LastUse
from nemutator_controller.inventory.documents import (
    UNKNOWN,
    Sums,
    Used,
    WorkloadItem,
    WorkloadTotals,
    rounded,
    sums_document,
    used_of,
    workload_item,
)
from nemutator_controller.inventory.model import ProgramUse, Tally, WorkloadFigures
from nemutator_controller.inventory.tallies import OOM_KILLED, PodSums
from nemutator_controller.kube.objects import Container, ContainerStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerBranch:
    name: str
    image: str
    is_init: bool
    requests: Used
    limits: Used
    used: Used
    throttled: float | None
    restarts: int
    oom_ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PodBranch:
    name: str
    uid: str
    owner_kind: str
    """What made it: a ReplicaSet, for a Deployment's."""
    owner: str
    node: str
    phase: str
    ready: bool
    requests: Used
    limits: Used
    used: Used
    restarts: int
    containers: list[ContainerBranch]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadBranch:
    workload: WorkloadItem
    pods: list[PodBranch]
    programs: Sequence[ProgramUse]
    """Off clusters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceBranch:
    name: str
    sums: Sums
    """Of the workloads below it, as far as they are on this page."""
    workloads: list[WorkloadBranch]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTree:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "WorkloadTree"
    now: float
    counted_at: float
    totals: WorkloadTotals
    """Of all that the filters admit, not of this page alone."""
    next: str
    remaining: int
    namespaces: list[NamespaceBranch]


def namespace_branches(workloads: Iterable[WorkloadFigures]) -> list[NamespaceBranch]:
    by_namespace: dict[str, list[WorkloadFigures]] = {}
    for each in workloads:
        by_namespace.setdefault(each.key[0], []).append(each)
    return [_namespace(name, several) for name, several in by_namespace.items()]


def _namespace(name: str, workloads: Sequence[WorkloadFigures]) -> NamespaceBranch:
    total = Tally()
    for each in workloads:
        total.add(each.tally)
    branches = [
        WorkloadBranch(
            workload=workload_item(each),
            pods=_pods(each.pods),
            programs=each.programs,
        )
        for each in workloads
    ]
    return NamespaceBranch(name=name, sums=sums_document(total), workloads=branches)


def _pods(several: CountedPods) -> list[PodBranch]:
    tallies = PodSums(several).each()
    return [_pod(each, tally) for each, tally in zip(several, tallies, strict=True)]


def _pod(counted: CountedPod, tally: Tally) -> PodBranch:
    pod = counted.pod
    statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    used = [None] * len(statuses) if counted.use is None else counted.use.by_statuses()
    told = {status.name: (status, last) for status, last in zip(statuses, used, strict=True)}
    maker = pod.metadata.controller
    containers = [(each, False) for each in pod.spec.containers]
    containers += [(each, True) for each in pod.spec.init_containers]
    return PodBranch(
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        owner_kind="" if maker is None else maker.kind,
        owner="" if maker is None else maker.name,
        node=pod.spec.node_name,
        phase=pod.status.phase,
        ready=pod.status.is_ready,
        requests=used_of(tally.requests),
        limits=used_of(tally.limits),
        used=Used(rounded(tally.cpu_cores), tally.memory_bytes),
        restarts=tally.restarts,
        containers=[
            _container(each, *told.get(each.name, (None, None)), is_init=is_init)
            for each, is_init in containers
        ],
    )


def _container(
    container: Container,
    status: ContainerStatus | None,
    now: LastUse | None,
    *,
    is_init: bool,
) -> ContainerBranch:
    ended = None if status is None else status.last_state.terminated
    return ContainerBranch(
        name=container.name,
        image=container.image,
        is_init=is_init,
        requests=used_of(cpu_memory(container.resources.requests)),
        limits=used_of(cpu_memory(container.resources.limits)),
        used=UNKNOWN if now is None else _used(now),
        throttled=None if now is None else rounded(now.throttled),
        restarts=0 if status is None else status.restart_count,
        oom_ended=ended is not None and ended.reason == OOM_KILLED,
    )


def _used(last: LastUse) -> Used:
    memory = last.memory_bytes
    return Used(rounded(last.cpu_cores), None if memory is None else int(memory))
