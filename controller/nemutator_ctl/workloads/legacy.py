"""The export of the first nemutator: lists of deployments, replica sets and pods, joined by their names.

Its shape, without its mistakes: objects of one name in two namespaces are two, and amounts are read as
Kubernetes reads them (cores and bytes). Metrics are what is used: `max` is the worst that is known, `avg` the usual,
in thousandths of a core and in MiB, as it had them; it had `min`, too, which is not known here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nemutator_ctl.answers import understood
from nemutator_ctl.inventory_answers import ShownLevels, ShownReplicas, ShownUse

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TreeContainer:
    name: str
    is_init: bool
    requests: ShownUse
    limits: ShownUse


@dataclass(frozen=True, slots=True)
class TreePod:
    name: str
    owner_kind: str
    owner: str
    ready: bool
    used: ShownUse
    containers: tuple[TreeContainer, ...]


@dataclass(frozen=True, slots=True)
class TreeWorkload:
    namespace: str
    kind: str
    name: str
    replicas: ShownReplicas
    use: ShownLevels


@dataclass(frozen=True, slots=True)
class TreeBranch:
    workload: TreeWorkload
    pods: tuple[TreePod, ...]


@dataclass(frozen=True, slots=True)
class TreeNamespace:
    workloads: tuple[TreeBranch, ...]


@dataclass(frozen=True, slots=True)
class TreeAnswer:
    namespaces: tuple[TreeNamespace, ...]
    next: str


def tree_answer(document: object) -> TreeAnswer:
    return understood(document, TreeAnswer, "a tree of workloads")


def legacy_map(pages: Iterable[TreeAnswer]) -> Json:
    deployments: list[Json] = []
    replicas: list[Json] = []
    pods: list[Json] = []
    for page in pages:
        for namespace in page.namespaces:
            for branch in namespace.workloads:
                own = [_pod(each, branch.workload) for each in branch.pods]
                pods += own
                if branch.workload.kind != "Deployment":
                    continue
                sets = _replica_sets(branch, own)
                replicas += sets
                deployments.append(_deployment(branch.workload, sets, own))
    return {"deployments": deployments, "replicas": replicas, "pods": pods}


def _pod(pod: TreePod, workload: TreeWorkload) -> Json:
    requests, limits = _amounts(pod, "requests"), _amounts(pod, "limits")
    made: Json = {
        "pod": pod.name,
        "namespace": workload.namespace,
        "containers": [each.name for each in pod.containers if not each.is_init],
        "requests": requests,
        "limits": limits,
        "resources": {"limits": _sums(limits), "requests": _sums(requests)},
        "metrics": _metrics(pod.used, pod.used),
    }
    if pod.owner_kind == "ReplicaSet":
        made |= {"owner": pod.owner, "replica": pod.owner}
    if workload.kind == "Deployment":
        made["deployment"] = workload.name
    return made


def _replica_sets(branch: TreeBranch, pods: list[Json]) -> list[Json]:
    found: dict[str, Json] = {}
    for shown, pod in zip(branch.pods, pods, strict=True):
        name = shown.owner
        made = found.setdefault(
            name,
            {
                "replica": name,
                "replicas": 0,
                "replicas_ready": 0,
                "namespace": branch.workload.namespace,
                "owner": branch.workload.name,
                "pods": [],
                "resources": _nothing(),
            },
        )
        made["replicas"] += 1
        made["replicas_ready"] += shown.ready
        made["pods"].append(shown.name)
        _add(made["resources"], pod["resources"])
    return list(found.values())


def _deployment(workload: TreeWorkload, sets: list[Json], pods: list[Json]) -> Json:
    resources = _nothing()
    for each in sets:
        _add(resources, each["resources"])
    return {
        "deployment": workload.name,
        "namespace": workload.namespace,
        "replicas": [each["replica"] for each in sets],
        "pods": [each["pod"] for each in pods],
        "resources": resources,
        "replica_pods": workload.replicas.pods,
        "metrics": _metrics(workload.use.worst, workload.use.usual),
    }


def _amounts(pod: TreePod, field: str) -> Json:
    of: list[ShownUse] = [getattr(each, field) for each in pod.containers if not each.is_init]
    return {
        "cpu": [each.cpu_cores for each in of if each.cpu_cores],
        "memory": [each.memory_bytes for each in of if each.memory_bytes],
    }


def _sums(amounts: Json) -> Json:
    return {name: sum(several) for name, several in amounts.items() if several}


def _nothing() -> Json:
    return {"limits": {"cpu": 0, "memory": 0}, "requests": {"cpu": 0, "memory": 0}}


def _add(total: Json, resources: Json) -> None:
    for mode, amounts in resources.items():
        for name, amount in amounts.items():
            total[mode][name] += amount


def _metrics(worst: ShownUse, usual: ShownUse) -> Json:
    found: Json = {}
    if worst.cpu_cores is not None and usual.cpu_cores is not None:
        found["cpu"] = {
            "max": round(worst.cpu_cores * 1000, 2),
            "avg": round(usual.cpu_cores * 1000, 2),
        }
    if worst.memory_bytes is not None and usual.memory_bytes is not None:
        found["mem"] = {
            "max": round(worst.memory_bytes / (1 << 20), 2),
            "avg": round(usual.memory_bytes / (1 << 20), 2),
        }
    return found
