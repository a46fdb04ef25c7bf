"""Neighbours with grades, and looks that give them."""

from collections.abc import Sequence

from nemutator_controller.neighbours.co_movement import CoMovement
from nemutator_controller.neighbours.links import NodeFindings, NodeLink
from nemutator_controller.neighbours.looked_nodes import LookedNode
from nemutator_controller.neighbours.model import PlacedContainer
from nemutator_controller.neighbours.resources import Contended

MOVED = CoMovement(correlation=0.9, p=1e-6, lag=0, minutes=59, quiet=0.02, busy=0.45)


def placed(
    name: str, *, namespace: str = "shop", node: str = "n1", owner: str = ""
) -> PlacedContainer:
    return PlacedContainer(
        node=node,
        namespace=namespace,
        pod=name,
        uid=f"uid-{name}",
        container="app",
        owner_kind="Deployment",
        owner=owner or name.rpartition("-")[0] or name,
    )


def link(victim: int, aggressor: int, *, victim_now: float = 3.0, now: float = 2.0) -> NodeLink:
    return NodeLink(victim, aggressor, Contended.CPU, MOVED, victim_now, now)


def looked(
    containers: Sequence[PlacedContainer | None],
    *links: NodeLink,
    untold: str = "",
    rows: int | None = None,
) -> LookedNode:
    count = len(containers) if rows is None else rows
    return LookedNode("n1", containers, NodeFindings(links, [untold] * count, [untold] * count, 1))
