"""The conditions of a SizingPolicy that `kubectl get` shows: whether it is followed, and what was given: pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from nemutator_controller.policies.conditions import (
    IN_FORCE,
    NO_FORCES,
    Forces,
    force_condition,
)
from nemutator_controller.policies.objects import READY, PolicyCondition
from nemutator_controller.updating.objects import SizingPolicyObject
from nemutator_controller.updating.progress import PolicyProgress

GIVEN = "Given"
LONGEST = 4096

Conditions = tuple[PolicyCondition, ...]


def due_conditions(
    policies: Iterable[SizingPolicyObject],
    progress: Mapping[str, PolicyProgress],
    faulty: Mapping[str, str],
    *,
    now: float,
    forces: Forces = NO_FORCES,
) -> list[tuple[SizingPolicyObject, Conditions]]:
    """The policies whose status is out of date, each with the conditions that it should have."""
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found: list[tuple[SizingPolicyObject, Conditions]] = []
    for policy in policies:
        name = policy.metadata.name
        wanted = _conditions(policy, progress.get(name), faulty.get(name), moment)
        if (force := forces.get(name)) is not None:
            said = next((one for one in policy.status.conditions if one.type == IN_FORCE), None)
            generation = policy.metadata.generation
            wanted = (*wanted, force_condition(force, said, generation, moment))
        if {each.type: each for each in policy.status.conditions} != {
            each.type: each for each in wanted
        }:
            found.append((policy, wanted))
    return found


def _conditions(
    policy: SizingPolicyObject, progress: PolicyProgress | None, fault: str | None, moment: str
) -> Conditions:
    before = {each.type: each for each in policy.status.conditions}
    ready = ("True", "Sound", "") if fault is None else ("False", "Faulty", fault)
    if fault is not None or progress is None:
        given = ("Unknown", "NotLooked", "it is not followed" if fault else "no look at pods yet")
    elif progress.counts["waits"]:
        given = ("False", "Waits", progress.summary())
    else:
        given = ("True", "Done", progress.summary())
    if progress is not None and progress.mode == "Off" and fault is None:
        given = ("False", "Off", progress.summary())
    return tuple(
        PolicyCondition(
            type=type_,
            status=status,
            reason=reason,
            message=message[:LONGEST],
            observed_generation=policy.metadata.generation,
            last_transition_time=_since(before.get(type_), status) or moment,
        )
        for type_, (status, reason, message) in ((READY, ready), (GIVEN, given))
    )


def _since(before: PolicyCondition | None, status: str) -> str:
    """The time of the last change, not of the last look."""
    if before is None or before.status != status:
        return ""
    return before.last_transition_time
