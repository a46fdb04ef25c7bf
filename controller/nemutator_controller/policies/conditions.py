"""The conditions of a policy that `kubectl get` shows: whether it is followed, and if not, why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from nemutator_controller.policies.objects import READY, PolicyCondition, PolicyObject
from nemutator_controller.policies.snapshot import snapshot_of

LONGEST = 4096
"""Characters of a message: a screen or two."""


IN_FORCE = "InForce"


@dataclass(frozen=True, slots=True)
class SeasonForce:
    """Whether it is the season of a policy whose `when` names some."""

    in_force: bool
    why: str


Forces = Mapping[str, SeasonForce]
"""By the policy's name."""

NO_FORCES: Forces = MappingProxyType({})


def due(
    policies: Iterable[PolicyObject], *, now: float, forces: Forces = NO_FORCES
) -> list[tuple[PolicyObject, tuple[PolicyCondition, ...]]]:
    """The policies whose status is out of date, each with the conditions that it should have."""
    all_ = {policy.metadata.name: policy for policy in policies}
    faulty = snapshot_of({name: policy.spec for name, policy in all_.items()}).faulty
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = []
    for name, policy in all_.items():
        wanted = [_condition(policy, faulty.get(name), moment)]
        if (force := forces.get(name)) is not None:
            before = next((one for one in policy.status.conditions if one.type == IN_FORCE), None)
            wanted.append(force_condition(force, before, policy.metadata.generation, moment))
        said = {one.type: one for one in policy.status.conditions}
        if {one.type: one for one in wanted} != {
            type_: one for type_, one in said.items() if type_ in (READY, IN_FORCE)
        }:
            found.append((policy, tuple(wanted)))
    return found


def force_condition(
    force: SeasonForce, before: PolicyCondition | None, generation: int, moment: str
) -> PolicyCondition:
    status = "True" if force.in_force else "False"
    since = before.last_transition_time if before and before.status == status else ""
    return PolicyCondition(
        type=IN_FORCE,
        status=status,
        reason="InSeason" if force.in_force else "OutOfSeason",
        message=force.why[:LONGEST],
        observed_generation=generation,
        last_transition_time=since or moment,
    )


def _condition(policy: PolicyObject, fault: str | None, moment: str) -> PolicyCondition:
    status = "True" if fault is None else "False"
    before = policy.ready
    # The time of the last change, not of the last check.
    same = before is not None and before.status == status and before.last_transition_time
    return PolicyCondition(
        type=READY,
        status=status,
        reason="Sound" if fault is None else "Faulty",
        message=(fault or "")[:LONGEST],
        observed_generation=policy.metadata.generation,
        last_transition_time=same or moment,
    )
