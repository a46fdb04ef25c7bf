"""The document of /api/v1/nodes: all nodes with their sums."""

from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.cluster.nodes import NodeSums, ReportedNode


@dataclass(frozen=True, slots=True)
class ListedNode:
    name: str
    seen_at: float
    age_s: float
    stale: bool
    sums: NodeSums


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "NodeList"
    now: float
    items: list[ListedNode]


def listed(node: ReportedNode, *, now: float, after_s: float) -> ListedNode:
    return ListedNode(
        name=node.name,
        seen_at=node.seen_at,
        age_s=node.age_s(now),
        stale=node.stale(now, after_s=after_s),
        sums=node.sums,
    )
