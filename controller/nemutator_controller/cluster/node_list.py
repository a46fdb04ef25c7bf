"""A node as lists show it, from its last report."""

from dataclasses import dataclass

from nemutator_controller.cluster.nodes import NodeSums, ReportedNode


@dataclass(frozen=True, slots=True)
class ListedNode:
    name: str
    seen_at: float
    age_s: float
    stale: bool
    sums: NodeSums


def listed(node: ReportedNode, *, now: float, after_s: float) -> ListedNode:
    return ListedNode(
        name=node.name,
        seen_at=node.seen_at,
        age_s=node.age_s(now),
        stale=node.stale(now, after_s=after_s),
        sums=node.sums,
    )
