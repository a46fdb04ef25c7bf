"""What one look found on one node, by pods: pure."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from nemutator_controller.neighbours.links import NodeFindings, NodeLink
from nemutator_controller.neighbours.model import NeighbourLink, NeighbourRole, PlacedContainer

VICTIM, AGGRESSOR = NeighbourRole.VICTIM, NeighbourRole.AGGRESSOR


@dataclass(frozen=True, slots=True)
class LookedNode:
    """What was found on one node: its containers in the order of the rows, None where nobody knows whose it is."""

    node: str
    containers: Sequence[PlacedContainer | None]
    found: NodeFindings


@dataclass(slots=True)
class LookedPod:
    placed: PlacedContainer
    scores: dict[NeighbourRole, float] = field(default_factory=dict)
    untold: dict[NeighbourRole, str] = field(default_factory=dict)
    told: set[NeighbourRole] = field(default_factory=set)
    links: dict[NeighbourRole, list[NeighbourLink]] = field(
        default_factory=lambda: defaultdict(list)
    )


@dataclass(slots=True)
class LookedPods:
    """The same by pods."""

    pods: dict[str, LookedPod] = field(default_factory=dict)
    links: list[NeighbourLink] = field(default_factory=list)
    untold: Counter[str] = field(default_factory=Counter)
    containers: int = 0


def looked_pods(node: LookedNode) -> LookedPods:
    together = LookedPods()
    pods, found = together.pods, node.found
    for row, placed in enumerate(node.containers):
        if placed is None:
            continue
        together.containers += 1
        pod = pods.get(placed.uid)
        if pod is None:
            pod = pods[placed.uid] = LookedPod(placed)
        if found.victims[row]:
            together.untold[found.victims[row]] += 1
        for role, why in ((VICTIM, found.victims[row]), (AGGRESSOR, found.aggressors[row])):
            if why:
                pod.untold.setdefault(role, why)
            else:
                # Of one of its containers is enough.
                pod.told.add(role)
    for one in found.links:
        victim, aggressor = node.containers[one.victim], node.containers[one.aggressor]
        # What a pod does to itself is no neighbour's doing.
        if victim is None or aggressor is None or victim.uid == aggressor.uid:
            continue
        link = _link(one, victim, aggressor)
        together.links.append(link)
        for role, placed, score in (
            (VICTIM, victim, one.victim_now),
            (AGGRESSOR, aggressor, one.aggressor_now),
        ):
            pod = pods[placed.uid]
            pod.links[role].append(link)
            pod.scores[role] = max(score, pod.scores.get(role, 0.0))
    return together


def _link(one: NodeLink, victim: PlacedContainer, aggressor: PlacedContainer) -> NeighbourLink:
    moved = one.movement
    return NeighbourLink(
        victim=victim,
        aggressor=aggressor,
        resource=one.resource,
        correlation=round(moved.correlation, 3),
        p=moved.p,
        lag_minutes=moved.lag,
        minutes=moved.minutes,
        quiet=round(moved.quiet, 4),
        busy=round(moved.busy, 4),
    )
