"""Which labels are to stand on whom: grades of the worst, and of nobody else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nemutator_common import names

from nemutator_controller.neighbours.model import (
    GradedNeighbour,
    Neighbourhood,
    NeighbourRole,
)

GradeLabels: TypeAlias = Mapping[str, str]
"""Of the six, those that stand on an object."""

GRADE_LABELS: Mapping[tuple[NeighbourRole, str], str] = {
    (NeighbourRole.VICTIM, "now"): names.VICTIM_NOW,
    (NeighbourRole.VICTIM, "usual"): names.VICTIM_USUAL,
    (NeighbourRole.VICTIM, "worst"): names.VICTIM_WORST,
    (NeighbourRole.AGGRESSOR, "now"): names.AGGRESSOR_NOW,
    (NeighbourRole.AGGRESSOR, "usual"): names.AGGRESSOR_USUAL,
    (NeighbourRole.AGGRESSOR, "worst"): names.AGGRESSOR_WORST,
}
ALL_LABELS = frozenset(GRADE_LABELS.values())

AS_IT_STANDS = ""
"""The value of a label whose grade nobody can tell."""


class NotLabelledError(Exception):
    """An object could not be written to."""


@dataclass(frozen=True, slots=True, order=True)
class LabelledObject:
    kind: str
    namespace: str
    name: str
    uid: str = ""
    """Of a pod."""


def labelled(neighbourhood: Neighbourhood) -> dict[LabelledObject, GradeLabels]:
    """What is to stand where, by what is known: a grade of 0 is no label.

    A workload has the grades of itself, where one of its pods is among the worst.
    """
    found: dict[LabelledObject, GradeLabels] = {}
    owners: dict[tuple[str, str, str], set[NeighbourRole]] = {}
    for one in neighbourhood.pods:
        roles = {role for role, is_top in one.is_top.items() if is_top}
        if labels := _labels(one, roles):
            found[LabelledObject("Pod", one.namespace, one.name, one.uid)] = labels
            owners.setdefault((one.namespace, one.owner_kind, one.owner), set()).update(roles)
    for one in neighbourhood.workloads:
        roles = owners.get((one.namespace, one.kind, one.name), set())
        # A pod that nobody owns is its own workload, and bears its labels already.
        if one.kind != "Pod" and (labels := _labels(one, roles)):
            found[LabelledObject(one.kind, one.namespace, one.name)] = labels
    return found


def changes(wanted: GradeLabels, standing: GradeLabels) -> dict[str, str | None]:
    """What has to be written; None: taken away."""
    return {
        name: wanted.get(name)
        for name in sorted(ALL_LABELS)
        if wanted.get(name) not in (standing.get(name), AS_IT_STANDS)
    }


def _labels(one: GradedNeighbour, roles: set[NeighbourRole]) -> dict[str, str]:
    found = {
        str(label): AS_IT_STANDS if grade is None else str(grade)
        for (role, when), label in GRADE_LABELS.items()
        if role in roles and (grade := getattr(one.grades[role], when)) != 0
    }
    return found if any(found.values()) else {}
