"""Neighbours as /api/v1 shows them."""

from collections.abc import Callable
from typing import Any

from nemutator_common import names

from nemutator_controller.neighbours.model import (
    NOBODY_ASIDE,
    AsideState,
    GradedNeighbour,
    Neighbourhood,
    NeighbourLink,
    NeighbourRole,
    PlacedContainer,
)

Json = dict[str, Any]

MOST_ASIDE = 100
"""Aggressors of whom it is said what becomes of them; all that are asked about are among the worst."""


def list_document(
    found: Neighbourhood,
    aside: AsideState = NOBODY_ASIDE,
    *,
    workloads: bool,
    role: NeighbourRole | None,
    namespace: str | None,
    limit: int,
    now: float,
) -> Json:
    chosen = found.workloads if workloads else found.pods
    items = [
        one
        for one in chosen
        if namespace in (None, one.namespace) and (role is None or one.grades[role].most)
    ]
    if role is not None:
        items.sort(key=_of_role(role))
    return {
        "apiVersion": names.API_VERSION,
        "kind": "NeighbourList",
        "now": now,
        "at": found.at,
        "why": ""
        if found.at
        else "nobody has looked yet: the first look is a minute after the start",
        "containers": found.containers,
        "untold": [
            {"why": why, "containers": count}
            for why, count in sorted(found.untold.items(), key=lambda each: -each[1])[:10]
        ],
        "top": found.top,
        "aside": aside_document(aside, namespace),
        "remaining": max(0, len(items) - limit),
        "items": [neighbour_document(one, namespace) for one in items[:limit]],
    }


def aside_document(aside: AsideState, namespace: str | None) -> Json | None:
    """None: no SeasonPolicy in force says anything of aggressors."""
    if not aside.policy:
        return None
    return {
        "policy": aside.policy,
        "evicts": aside.evicts,
        "pods": [
            {
                "namespace": one.namespace,
                "name": one.name,
                "node": one.node,
                "grade": one.grade,
                "state": one.state,
                "why": one.why,
            }
            for one in aside.pods[:MOST_ASIDE]
            if namespace in (None, one.namespace)
        ],
    }


def neighbour_document(one: GradedNeighbour, namespace: str | None) -> Json:
    """*namespace*: all that whoever asks may see."""
    why = one.why if namespace is None else one.why_within
    return {
        "namespace": one.namespace,
        "kind": one.kind,
        "name": one.name,
        "uid": one.uid,
        "node": one.node,
        "ownerKind": one.owner_kind,
        "owner": one.owner,
        "containers": list(one.containers),
        **{
            str(role): {
                "now": times.now,
                "usual": times.usual,
                "worst": times.worst,
                "why": why.get(role, ""),
                "top": one.is_top.get(role, False),
            }
            for role, times in one.grades.items()
        },
    }


def item_document(one: GradedNeighbour, found: Neighbourhood, namespace: str | None) -> Json:
    """One of them with its links; of ends in other namespaces than *namespace* only that they are there."""

    def concerns(link: NeighbourLink) -> bool:
        return any(
            end.uid == one.uid
            if one.kind == "Pod"
            else (end.namespace, end.owner_kind, end.owner) == (one.namespace, one.kind, one.name)
            for end in (link.victim, link.aggressor)
        )

    return {
        "apiVersion": names.API_VERSION,
        "kind": "Neighbour",
        "at": found.at,
        **neighbour_document(one, namespace),
        "links": [
            {
                "resource": str(link.resource),
                "victim": _end(link.victim),
                "aggressor": _end(link.aggressor),
                "correlation": link.correlation,
                "p": link.p,
                "lagMinutes": link.lag_minutes,
                "minutes": link.minutes,
                "quiet": link.quiet,
                "busy": link.busy,
                "sentence": link.sentence(namespace),
            }
            for link in found.links
            if concerns(link)
            and (
                namespace is None or namespace == link.victim.namespace == link.aggressor.namespace
            )
        ],
    }


def _end(placed: PlacedContainer) -> Json:
    return {
        "node": placed.node,
        "namespace": placed.namespace,
        "pod": placed.pod,
        "container": placed.container,
        "ownerKind": placed.owner_kind,
        "owner": placed.owner,
    }


def _of_role(role: NeighbourRole) -> Callable[[GradedNeighbour], tuple[int, ...]]:
    def key(one: GradedNeighbour) -> tuple[int, ...]:
        times = one.grades[role]
        return -(times.now or 0), -(times.usual or 0), -(times.worst or 0)

    return key
