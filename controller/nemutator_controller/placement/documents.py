"""Scores as the scheduler and as people read them."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from nemutator_common import names

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot, WantedPod
from nemutator_controller.placement.scores import NodeScore

MOST_PRIORITY = 10
"""Of an extender; the scheduler multiplies it by the weight in its configuration."""

LEAST_SPREAD = 1e-6


class HostPriority(msgspec.Struct, frozen=True, gc=False, rename="pascal"):
    host: str
    score: int


def priorities(nodes: Sequence[str], scored: Sequence[float]) -> list[HostPriority]:
    """A HostPriorityList. Small differences between good nodes are spread over all of 0 to 10."""
    found = np.asarray(scored, dtype=np.float64)
    low, high = found.min(initial=1.0), found.max(initial=0.0)
    if high - low <= LEAST_SPREAD:
        numbers = [0] * len(nodes)
    else:
        numbers = np.rint(MOST_PRIORITY * (found - low) / (high - low)).astype(int).tolist()
    return [HostPriority(name, number) for name, number in zip(nodes, numbers, strict=True)]


def placement_document(
    snapshot: NodesSnapshot, pod: WantedPod, found: Sequence[NodeScore], *, now: float
) -> dict[str, Any]:
    namespace, kind, name = pod.workload
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Placement",
        "workload": {"namespace": namespace, "kind": kind, "name": name},
        "requests": {"cpu": pod.cpu_cores, "memory": pod.memory_bytes},
        "ageS": round(max(0.0, now - snapshot.taken_at), 1),
        "nodes": len(snapshot.names),
        "season": snapshot.season_of(pod.workload),
        "items": [
            {
                "node": one.node,
                "score": one.score,
                "factors": [
                    {
                        "name": each.factor.name,
                        "weight": each.factor.weight,
                        "score": each.score,
                        "why": each.why,
                    }
                    for each in one.factors
                ],
            }
            for one in found
        ],
    }
