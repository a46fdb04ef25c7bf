"""Which nodes can be emptied, and where their pods would have room: pure.

It is as careful as it can be without a scheduler: a pod goes by what it requests, to a node that is neither full by
requests nor busy in truth, and of which nothing keeps it away. Where a single pod has no place, nothing of it is moved.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_controller.packing.model import (
    NO_CEILING,
    NodeContents,
    NodePlan,
    OversellCeiling,
    PackNode,
    PackPod,
    PlannedMove,
)

LARGEST_SHARE = 0.5
"""Of a node that may be emptied, requested: from there on the cluster autoscaler removes none either."""
FULLEST_SHARE = 0.9
"""Of a node to which pods are sent: some room is left for what comes."""
BUSIEST_SHARE = 0.6
"""Of the CPU of a node to which pods are sent, in real use, as placement packs."""

UNDER = " under the oversell ceiling of the season"
TOO_FULL = "{:.0f} % of it is requested, and it is emptied up to {:.0f} %"


def candidates(nodes: Iterable[PackNode], chosen: Iterable[str] = ()) -> list[PackNode]:
    """Those that may be worth looking into, the emptiest first. *chosen*: that are emptied already."""
    taken = set(chosen)
    found = [node for node in nodes if not node.kept and node.name not in taken]
    return sorted(
        (node for node in found if node.share <= LARGEST_SHARE),
        key=lambda node: (node.share, node.pods, node.name),
    )


def kept_node(node: PackNode) -> NodePlan:
    """One that is not looked into, and why."""
    why = node.kept or TOO_FULL.format(100 * node.share, 100 * LARGEST_SHARE)
    return NodePlan(node=node.name, share=node.share, why_not=why)


@dataclass(slots=True)
class _Room:
    node: PackNode
    ceiling: OversellCeiling
    cpu: int
    memory: int
    limited_cpu: int
    limited_memory: int
    pods: int

    def fits(self, pod: PackPod) -> bool:
        node = self.node
        return (
            self.cpu + pod.cpu_millis <= node.cpu_millis * FULLEST_SHARE
            and self.memory + pod.memory_bytes <= node.memory_bytes * FULLEST_SHARE
            and self.pods < node.most_pods
            and _within(self.limited_cpu + pod.limit_cpu, node.cpu_millis, self.ceiling.cpu)
            and _within(
                self.limited_memory + pod.limit_memory, node.memory_bytes, self.ceiling.memory
            )
            and selected(pod.node_selector, node.labels)
        )

    def take(self, pod: PackPod) -> None:
        self.cpu += pod.cpu_millis
        self.memory += pod.memory_bytes
        self.limited_cpu += pod.limit_cpu
        self.limited_memory += pod.limit_memory
        self.pods += 1


def _within(limits: int, there: int, ceiling: float | None) -> bool:
    return ceiling is None or limits <= ceiling * there


def plan_of(
    node: PackNode,
    contents: NodeContents,
    others: Sequence[PackNode],
    *,
    chosen: Iterable[str] = (),
    ceiling: OversellCeiling = NO_CEILING,
) -> NodePlan:
    """*chosen*: nodes that are emptied, and take nothing. Of one of them a budget may be used up by our own evictions:
    that its pods have to wait is no reason to begin with another node."""
    emptied = set(chosen)
    begun, taken = node.name in emptied, {*emptied, node.name}
    made = NodePlan(node=node.name, share=node.share)
    if contents.kept:
        return NodePlan(node=node.name, share=node.share, why_not=contents.kept)
    moving = [pod for pod in contents.pods if not pod.goes_along]
    for pod in moving:
        if why := pod.stays or ("" if begun else pod.waits):
            return NodePlan(node=node.name, share=node.share, why_not=f"{pod}: {why}")
    rooms = [
        _Room(
            each,
            ceiling,
            each.requested_cpu,
            each.requested_memory,
            each.limited_cpu,
            each.limited_memory,
            each.pods,
        )
        for each in others
        if each.name not in taken
        and not each.takes_none
        and not each.is_marked
        # Who is empty could be removed as well: pods do not go from one such node to another one.
        and each.share > 0
        and (each.used_share is None or each.used_share <= BUSIEST_SHARE)
    ]
    # The fullest first, so that free nodes stay free; and the largest pods first, which fit the fewest.
    rooms.sort(key=lambda room: (-room.node.share, room.node.name))
    moves: list[PlannedMove] = []
    for pod in sorted(moving, key=lambda pod: (-pod.cpu_millis, -pod.memory_bytes, str(pod))):
        if pod.gives_way:
            moves.append(PlannedMove(pod, ""))
            continue
        room = next((room for room in rooms if room.fits(pod)), None)
        if room is None:
            under = "" if ceiling == NO_CEILING else UNDER
            why = f"{pod}: no other node has room for it{under}"
            return NodePlan(node=node.name, share=node.share, why_not=why)
        room.take(pod)
        moves.append(PlannedMove(pod, room.node.name))
    return NodePlan(node=made.node, share=made.share, moves=tuple(moves))


def selected(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())
