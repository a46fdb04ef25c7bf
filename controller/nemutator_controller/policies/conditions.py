"""The condition of a policy that `kubectl get` shows: whether it is followed, and if not, why."""

from collections.abc import Iterable
from datetime import UTC, datetime

from nemutator_controller.policies.objects import READY, PolicyCondition, PolicyObject
from nemutator_controller.policies.snapshot import snapshot_of

LONGEST = 4096
"""Characters of a message: a screen or two."""


def due(
    policies: Iterable[PolicyObject], *, now: float
) -> list[tuple[PolicyObject, PolicyCondition]]:
    """The policies whose status is out of date, each with the condition that it should have."""
    all_ = {policy.metadata.name: policy for policy in policies}
    faulty = snapshot_of({name: policy.spec for name, policy in all_.items()}).faulty
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = [
        (policy, _condition(policy, faulty.get(name), moment)) for name, policy in all_.items()
    ]
    return [(policy, wanted) for policy, wanted in found if policy.ready != wanted]


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
