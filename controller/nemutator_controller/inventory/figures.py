"""Counts a cluster: from snapshots to figures, in which the sums of parts are the totals.

It takes seconds for 150 000 pods, so it runs in a thread: it reads snapshots, which never change, and nothing
else.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from nemutator_controller.cluster.pods import ClusterSnapshot, PodOwner
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.inventory.amounts import NOTHING, CpuMemory, count, cpu_memory
from nemutator_controller.inventory.counted_pods import NO_PODS, CountedPods, Numbers
from nemutator_controller.inventory.current_use import NodeUse
from nemutator_controller.inventory.model import (
    ClusterFigures,
    ContainerName,
    LevelSums,
    NamespaceFigures,
    NodeFigures,
    Tally,
    UseLevels,
    WorkloadFigures,
    WorkloadKey,
    level_sums,
)
from nemutator_controller.inventory.pod_demands import PodDemands
from nemutator_controller.inventory.ports import UseNow
from nemutator_controller.inventory.tallies import PodSums
from nemutator_controller.kube.node_objects import Service, WatchedNode
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.workload_objects import (
    DisruptionBudget,
    TargetRef,
    WatchedWorkload,
)

Levels = Mapping[ContainerName, UseLevels]


def count_cluster(
    snapshot: ClusterSnapshot, objects: ObjectsSnapshot, use: UseNow, levels: Levels, *, now: float
) -> ClusterFigures:
    pods = counted_pods(snapshot, use, now=now)
    of_workload: dict[WorkloadKey, list[int]] = defaultdict(list)
    workload_of, node_of, nodes = [], [], dict[str, int]()
    numbers: dict[WorkloadKey, int] = {}
    for number, (pod, owner) in enumerate(zip(pods.pods, pods.owners, strict=True)):
        key, node = (pod.metadata.namespace, owner.kind, owner.name), pod.spec.node_name
        of_workload[key].append(number)
        workload_of.append(numbers.setdefault(key, len(numbers)))
        node_of.append(nodes.setdefault(node, len(nodes)) if node else -1)
    by_workload = {key: pods.of(several) for key, several in of_workload.items()}
    sums = PodSums(pods)
    tallies = dict(zip(numbers, sums.by(workload_of, len(numbers)), strict=True))
    by_node = dict(zip(nodes, sums.by(node_of, len(nodes)), strict=True))
    workloads = _workloads(objects, by_workload, tallies, levels)
    namespaces = namespace_figures(workloads.values())
    services: dict[str, list[Service]] = defaultdict(list)
    for service in objects.services.values():
        services[service.metadata.namespace].append(service)
    total, waste = Tally(), NOTHING
    for one_namespace in namespaces.values():
        total.add(one_namespace.tally)
        waste += one_namespace.waste
    return ClusterFigures(
        taken_at=now,
        nodes=_nodes(objects, by_node, _waste_by_node(workloads.values())),
        workloads=workloads,
        namespaces=namespaces,
        total=total,
        waste=waste,
        objects=objects,
        services=services,
    )


def counted_pods(snapshot: ClusterSnapshot, use: UseNow, *, now: float) -> CountedPods:
    """All pods that have not ended, each with what its node has said of it."""
    pods = [pod for pod in snapshot.pods.objects.values() if not pod.has_ended]
    demands, owners = PodDemands(), _Owners(snapshot)
    return CountedPods(
        pods, list(map(owners.of, pods)), list(map(demands.of, pods)), *_uses(pods, use, now=now)
    )


def _uses(
    pods: Sequence[Pod], use: UseNow, *, now: float
) -> tuple[list[NodeUse | None], list[Numbers], list[tuple[int, ...]]]:
    """Columns of `CountedPods`. One node after another, so that the names of one only are unpacked at a time."""
    known_nodes, by_node = use.nodes(), defaultdict[str, list[int]](list)
    for number, pod in enumerate(pods):
        by_node[pod.spec.node_name].append(number)
    nodes: list[NodeUse | None] = [None] * len(pods)
    by_status: list[Numbers] = [()] * len(pods)
    ended: list[tuple[int, ...]] = [()] * len(pods)
    alike: dict[Numbers, Numbers] = {}
    for name, several in by_node.items():
        # A node may speak for its own pods only.
        if (node := known_nodes.get(name)) is None:
            continue
        containers = node.containers(now=now)
        for number in several:
            pod = pods[number]
            if known := containers.get(pod.metadata.uid):
                nodes[number] = node
                found = _by_status(pod, known)
                # Nodes number their series alike, so that a few are those of nearly all pods.
                by_status[number] = alike.setdefault(found, found)
                ended[number] = tuple(set(known.values()).difference(found))
    return nodes, by_status, ended


def _by_status(pod: Pod, known: Mapping[str, int]) -> Numbers:
    status = pod.status
    return tuple(
        # "containerd://<id>"; an agent says the id as the cgroup has it.
        known.get(each.container_id.rpartition("/")[2])
        for each in (*status.container_statuses, *status.init_container_statuses)
    )


class _Owners:
    """Owners of pods, found out once for pods that name the same one. Equal references are the same object, as
    informers keep them."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[tuple[int, int, str], tuple[Pod, PodOwner]] = {}
        """With a pod of each, so that the identities stay what they are."""

    def of(self, pod: Pod) -> PodOwner:
        meta = pod.metadata
        if not meta.owner_references:
            return self._snapshot.owner(pod)
        key = (id(meta.owner_references), id(meta.labels), meta.namespace)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (pod, self._snapshot.owner(pod))
        return known[1]


def _workloads(
    objects: ObjectsSnapshot,
    pods: Mapping[WorkloadKey, CountedPods],
    tallies: Mapping[WorkloadKey, Tally],
    levels: Levels,
) -> dict[WorkloadKey, WorkloadFigures]:
    seen: dict[WorkloadKey, WatchedWorkload | None] = dict.fromkeys(pods)
    for kind, several in objects.workloads.items():
        for each in several.values():
            # What another object makes (a CronJob, an operator) is counted with that.
            if each.metadata.controller is None:
                seen[each.metadata.namespace, kind, each.metadata.name] = each
    scalers = {
        _target(each, each.spec.scale_target_ref): each for each in objects.autoscalers.values()
    }
    vertical = {
        _target(each, each.spec.target_ref): each for each in objects.vertical_autoscalers.values()
    }
    budgets: dict[str, list[DisruptionBudget]] = defaultdict(list)
    for budget in objects.disruption_budgets.values():
        budgets[budget.metadata.namespace].append(budget)
    found: dict[WorkloadKey, WorkloadFigures] = {}
    for key, workload in sorted(seen.items(), key=itemgetter(0)):
        own, tally = pods.get(key, NO_PODS), tallies.get(key) or Tally()
        sums = _levels(key, own, levels)
        of_pods = own.pods[0].metadata.labels if own else {}
        template = _template_labels(workload) or of_pods
        found[key] = WorkloadFigures(
            key=key,
            workload=workload,
            tally=tally,
            pods=own,
            wanted=wanted(key[1], workload),
            ready=tally.ready,
            levels=sums,
            waste=None if sums is None else less(tally.requests, sums.worst),
            labels=workload.metadata.labels if workload is not None else of_pods,
            autoscaler=scalers.get(key),
            vertical_autoscaler=vertical.get(key),
            disruption_budget=_budget(budgets.get(key[0], ()), template),
        )
    return found


def wanted(kind: str, workload: WatchedWorkload | None) -> int | None:
    """The pods that it should have; None where that is no number of its own."""
    if kind == "Pod":
        return 1
    if workload is None:
        return None
    spec = workload.spec
    match kind:
        case "Deployment" | "StatefulSet":
            return 1 if spec.replicas is None else spec.replicas
        case "DaemonSet":
            return workload.status.desired_number_scheduled
        case "Job":
            # What has succeeded is not made again.
            active = workload.status.active
            return active if isinstance(active, int) else None
        case _:
            return None


def _levels(key: WorkloadKey, pods: CountedPods, levels: Levels) -> LevelSums | None:
    several: list[UseLevels] = []
    for pod in pods.pods:
        spec = pod.spec
        sidecars = (one for one in spec.init_containers if one.is_sidecar)
        for container in (*spec.containers, *sidecars):
            known = levels.get((*key, container.name))
            if known is None:
                return None
            several.append(known)
    return level_sums(several) if several else None


def less(requests: CpuMemory, used: CpuMemory) -> CpuMemory:
    """What of *requests* is left over by *used*."""
    return CpuMemory(
        max(0, requests.cpu_millis - used.cpu_millis),
        max(0, requests.memory_bytes - used.memory_bytes),
    )


def _target(scaler: Object, target: TargetRef) -> WorkloadKey:
    return scaler.metadata.namespace, target.kind, target.name


def _template_labels(workload: WatchedWorkload | None) -> Mapping[str, str]:
    if workload is None:
        return {}
    spec = workload.spec
    return spec.template.metadata.labels or spec.job_template.spec.template.metadata.labels


def _budget(
    budgets: Iterable[DisruptionBudget], labels: Mapping[str, str]
) -> DisruptionBudget | None:
    for each in budgets:
        if each.spec.selector is not None and each.spec.selector.selects(labels):
            return each
    return None


def namespace_figures(workloads: Iterable[WorkloadFigures]) -> dict[str, NamespaceFigures]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    counts: dict[str, int] = defaultdict(int)
    waste: dict[str, CpuMemory] = defaultdict(CpuMemory)
    for each in workloads:
        name = each.key[0]
        tallies[name].add(each.tally)
        counts[name] += 1
        if each.waste is not None:
            waste[name] += each.waste
    return {
        name: NamespaceFigures(
            name=name, tally=tallies[name], workloads=counts[name], waste=waste[name]
        )
        for name in sorted(tallies)
    }


def _waste_by_node(workloads: Iterable[WorkloadFigures]) -> dict[str, CpuMemory]:
    """Each pod has an equal part of what its workload wastes, so that the sums of nodes and of workloads are one."""
    waste: dict[str, CpuMemory] = defaultdict(CpuMemory)
    for each in workloads:
        if each.waste is None or each.waste == NOTHING:
            continue
        pods = len(each.pods)
        (cpu, more_cpu), (memory, more_memory) = (
            divmod(amount, pods) for amount in (each.waste.cpu_millis, each.waste.memory_bytes)
        )
        for number, pod in enumerate(each.pods.pods):
            if node := pod.spec.node_name:
                # What does not divide evenly goes to the first ones.
                part = CpuMemory(cpu + (number < more_cpu), memory + (number < more_memory))
                waste[node] += part
    return waste


def _nodes(
    objects: ObjectsSnapshot, tallies: Mapping[str, Tally], waste: Mapping[str, CpuMemory]
) -> dict[str, NodeFigures]:
    nodes = {each.metadata.name: each for each in objects.nodes.values()}
    return {
        name: _node(name, nodes.get(name), tallies.get(name) or Tally(), waste.get(name, NOTHING))
        for name in sorted(nodes.keys() | tallies.keys())
    }


def _node(name: str, node: WatchedNode | None, tally: Tally, waste: CpuMemory) -> NodeFigures:
    status = None if node is None else node.status
    allocatable = {} if status is None else status.allocatable
    return NodeFigures(
        name=name,
        node=node,
        allocatable=cpu_memory(allocatable),
        capacity=cpu_memory({} if status is None else status.capacity),
        most_pods=count(allocatable, "pods"),
        tally=tally,
        is_ready=status is not None
        and any(each.type == "Ready" and each.status == "True" for each in status.conditions),
        waste=waste,
    )
