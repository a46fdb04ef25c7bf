"""Which policies what runs follows, and which of them are gone: pure.

What a live policy has written goes back when the policy is deleted. A deleted one says nothing of itself any
more, not even that it was live, so that the brain remembers the names of those that were.
"""

from collections.abc import Mapping

from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.snapshot import Policies

MOST_REMEMBERED = 2_000
"""Twice as many as there can be policies."""


def remembered_after(
    before: Mapping[str, float], policies: Policies, now: float
) -> Mapping[str, float]:
    """The names of live policies, and of those that were live when they were deleted; with the time since
    which each is remembered.

    One that is there and is no live one any more is forgotten: what it has written stays.
    """
    there = {each.name for each in policies.sound}
    live = {each.name: before.get(each.name, now) for each in policies.for_pods if _is_live(each)}
    gone = [(at, name) for name, at in before.items() if name not in there]
    room = max(0, MOST_REMEMBERED - len(live))
    return live | {name: at for at, name in sorted(gone, reverse=True)[:room]}


def followed_by_what_runs(remembered: Mapping[str, float], policies: Policies) -> frozenset[str]:
    """The names of live policies whose mode is Apply, and of the deleted ones.

    One whose mode is Preview writes nothing and takes nothing back, and a faulty one of which no good form is
    known is not deleted.
    """
    there = {each.name for each in policies.sound} | policies.faulty.keys()
    live = {e.name for e in policies.for_pods if _is_live(e) and e.spec.mode == "Apply"}
    return frozenset(live | (remembered.keys() - there))


def _is_live(policy: Policy) -> bool:
    return policy.spec.apply_to == "live"
