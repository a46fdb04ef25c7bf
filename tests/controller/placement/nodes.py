"""Nodes and pods to be placed on them."""

from collections.abc import Mapping, Sequence

from nemutator_controller.placement.nodes_snapshot import (
    NodeFacts,
    NodesSnapshot,
    WantedPod,
    Workload,
    nodes_snapshot,
)

WEB: Workload = ("shop", "Deployment", "web")
POD = WantedPod(workload=WEB, cpu_cores=0.5, memory_bytes=float(1 << 30))
GIB = float(1 << 30)


def node(name: str, **changed: object) -> NodeFacts:
    given = {
        "cpu_cores": 8.0,
        "memory_bytes": 32 * GIB,
        "requested_cores": 2.0,
        "requested_bytes": 8 * GIB,
        "used_cores": 2.0,
        "used_bytes": 8 * GIB,
        "pods": 5,
        **changed,
    }
    return NodeFacts(name=name, **given)  # type: ignore[arg-type]


def snapshot(
    *nodes: NodeFacts,
    familiars: Mapping[Workload, Mapping[str, int]] | None = None,
    talkers: Mapping[Workload, Mapping[str, float]] | None = None,
    aggressors: Mapping[Workload, int] | None = None,
    taken_at: float = 0.0,
) -> NodesSnapshot:
    return nodes_snapshot(
        nodes,
        familiars=familiars or {},
        talkers=talkers or {},
        aggressors=aggressors or {},
        taken_at=taken_at,
    )


def best(found: Sequence[float]) -> int:
    return max(range(len(found)), key=lambda place: found[place])
