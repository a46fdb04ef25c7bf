"""A cluster that does not exist, as informers and agents would tell of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.current_use import COLUMNS, LastUse, NodeUse
from nemutator_controller.inventory.figures import count_cluster
from nemutator_controller.inventory.model import ClusterFigures, ContainerName, UseLevels
from nemutator_controller.kube.node_objects import Service, WatchedNode
from nemutator_controller.kube.objects import (
    Condition,
    Container,
    ContainerStatus,
    LastState,
    Metadata,
    Pod,
    PodSpec,
    PodStatus,
    Resources,
    Terminated,
)
from nemutator_controller.kube.workload_objects import (
    Autoscaler,
    BudgetSelector,
    DisruptionBudget,
    DisruptionBudgetSpec,
    WatchedWorkload,
)

from tests.fakes.pods import owned, picture

NOW = 1_760_000_000.0


def resources(requests: Mapping[str, str], limits: Mapping[str, str] | None = None) -> Resources:
    return Resources(dict(requests), dict(limits or {}))


def counted_pod(
    name: str,
    *,
    namespace: str = "shop",
    node: str = "n1",
    deployment: str | None = "web",
    requests: Mapping[str, str] | None = None,
    ready: bool = True,
    phase: str = "Running",
    restarts: int = 0,
    last_end: str = "",
    **spec: Any,
) -> Pod:
    """A pod of one container; its uid is `u-NAME`, its container's id `c-NAME`."""
    owners = () if deployment is None else owned("ReplicaSet", f"{deployment}-abc", "rs1")
    labels = {"pod-template-hash": "abc", "app": deployment or name}
    container = Container(name="app", resources=resources(requests or {}))
    ended = LastState(Terminated(last_end)) if last_end else LastState()
    return Pod(
        metadata=Metadata(
            name=name,
            namespace=namespace,
            uid=f"u-{name}",
            resource_version="1",
            owner_references=owners,
            labels=labels,
        ),
        spec=PodSpec(containers=(container,), node_name=node, **spec),
        status=PodStatus(
            phase=phase,
            conditions=(Condition("Ready", "True" if ready else "False"),),
            container_statuses=(
                ContainerStatus(
                    name="app",
                    container_id=f"containerd://c-{name}",
                    restart_count=restarts,
                    last_state=ended,
                ),
            ),
        ),
    )


Used = tuple[Series, LastUse]


def last_use(
    name: str, cpu: float | None, memory: float | None, *, container: bool = True, **more: float
) -> Used:
    """What the container of the pod *name* used."""
    known: dict[str, float | None] = dict.fromkeys(LastUse.__struct_fields__)
    known |= {"cpu_cores": cpu, "memory_bytes": memory, **more}
    container_id = f"c-{name}" if container else None
    return Series(f"/{name}", f"u-{name}", container_id, None), LastUse(**known)


def node_use(several: Sequence[Used]) -> NodeUse:
    rows = [
        [np.nan if value is None else value for value in msgspec.structs.astuple(used)]
        for _, used in several
    ]
    columns = np.array(rows, dtype=np.float32).reshape(-1, len(COLUMNS)).T
    return NodeUse([series for series, _ in several], np.full(len(several), NOW), columns)


@dataclass
class FixedUse:
    """A `UseNow`."""

    by_node: Mapping[str, Sequence[Used]] = field(default_factory=dict)

    def nodes(self) -> Mapping[str, NodeUse]:
        return {name: node_use(several) for name, several in self.by_node.items()}


@dataclass
class FixedLevels:
    """A `KnownLevels`."""

    known: Mapping[ContainerName, UseLevels] = field(default_factory=dict)

    async def now(self) -> Mapping[ContainerName, UseLevels]:
        return self.known


@dataclass
class FixedCluster:
    """A `WatchedInventory`."""

    snapshot: ClusterSnapshot | None = None
    others: ObjectsSnapshot = field(default_factory=ObjectsSnapshot)

    def pods(self) -> ClusterSnapshot | None:
        return self.snapshot

    def objects(self) -> ObjectsSnapshot:
        return self.others


def meta(name: str, namespace: str = "shop", **more: Any) -> Metadata:
    return Metadata(name=name, namespace=namespace, uid=f"u-{name}", resource_version="1", **more)


def keyed(*objects: Any) -> dict[str, Any]:
    return {one.metadata.key: one for one in objects}


def figures(
    *pods: Pod,
    objects: ObjectsSnapshot | None = None,
    use: Mapping[str, Sequence[Used]] | None = None,
    levels: Mapping[ContainerName, UseLevels] | None = None,
) -> ClusterFigures:
    return count_cluster(
        picture(*pods), objects or ObjectsSnapshot(), FixedUse(use or {}), levels or {}, now=NOW
    )


def shop() -> ClusterFigures:
    """Two nodes; web with two pods, a scaler, a budget and a Service; db, which waits; empty, with none."""

    def made(shape: Any, **manifest: Any) -> Any:
        return msgspec.convert(manifest, shape)

    def name(of: str) -> dict[str, Any]:
        return {"name": of, "namespace": "shop", "labels": {"team": "a"}}

    template = {"metadata": {"labels": {"app": "web"}}}
    objects = ObjectsSnapshot(
        nodes=keyed(
            made(
                WatchedNode,
                metadata={"name": "n1", "labels": {"zone": "a"}},
                spec={"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
                status={
                    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                    "capacity": {"cpu": "4", "memory": "9Gi", "pods": "110"},
                    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                },
            ),
            made(WatchedNode, metadata={"name": "n2"}, spec={"unschedulable": True}),
        ),
        workloads={
            "Deployment": keyed(
                made(
                    WatchedWorkload,
                    metadata=name("web"),
                    spec={"replicas": 3, "strategy": {"type": "Recreate"}, "template": template},
                ),
                made(WatchedWorkload, metadata=name("empty"), spec={"replicas": 0}),
            )
        },
        autoscalers=keyed(
            made(
                Autoscaler,
                metadata=name("web"),
                spec={
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "minReplicas": 2,
                    "maxReplicas": 9,
                    "metrics": [{"type": "Resource", "resource": {"name": "cpu"}}],
                },
            )
        ),
        disruption_budgets=keyed(
            DisruptionBudget(
                metadata=meta("web"),
                spec=DisruptionBudgetSpec(
                    selector=BudgetSelector(match_labels={"app": "web"}), min_available=1
                ),
            )
        ),
        services=keyed(
            made(Service, metadata=name("front"), spec={"selector": {"app": "web"}}),
            made(Service, metadata=name("else"), spec={"selector": {"app": "db"}}),
        ),
    )
    amounts = {"cpu": "500m", "memory": "1Gi"}
    return figures(
        counted_pod("web-1", requests=amounts, restarts=2, last_end="OOMKilled"),
        counted_pod("web-2", node="n2", requests=amounts, ready=False),
        counted_pod(
            "db-1", deployment=None, node="", requests={"cpu": "2"}, phase="Pending", ready=False
        ),
        counted_pod("old-1", phase="Succeeded", requests=amounts),
        objects=objects,
        use={
            "n1": [
                last_use(
                    "web-1",
                    0.25,
                    1 << 28,
                    throttled=0.5,
                    network_received=10.0,
                    cpu_waiting=12.5,
                    disk_waiting=3.0,
                ),
                last_use("web-1", 0.3, 1 << 29, container=False),
                # A node may speak for its own pods only.
                last_use("web-2", 9.0, 1 << 40),
            ],
            "n2": [last_use("web-2", 0.05, None)],
        },
        levels={("shop", "Deployment", "web", "app"): UseLevels(0.1, 0.2, 1 << 28, 1 << 29)},
    )


@dataclass
class FixedRequests:
    """A `KnownRequests`."""

    known: Mapping[ContainerName, CpuMemory] = field(default_factory=dict)

    async def now(self) -> Mapping[ContainerName, CpuMemory]:
        return self.known
