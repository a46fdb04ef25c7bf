"""Whether admission has missed a pod that runs: pure.

A pod that was let in unchanged, because admission was down, late or confused, carries no stamp of ours, and the
planner would still change it by the policies of the time at which it was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from nemutator_common import names

from nemutator_controller.following.changes import candidate_of
from nemutator_controller.following.records import FollowedObject
from nemutator_controller.mutations import resources
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.paths import Json, PathError
from nemutator_controller.mutations.skips import skips_of
from nemutator_controller.mutations.stamps import stamp_of
from nemutator_controller.policies.matches import matches
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.plans import Situation, candidate, plan

POD = "Pod"
REQUIRED = "required"
MIRROR = "kubernetes.io/config.mirror"

NEVER_ASKED = frozenset({"nemutator", "kube-system", "kube-node-lease"})
"""Namespaces of which the API server does not ask admission."""

SETTLED_S = 10.0
"""From a policy's last change until every replica of admission has surely known it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedPod:
    pod: FollowedObject
    policies: tuple[str, ...]
    """By name, those that would have changed it."""
    is_required: bool
    """Whether it says that it must not run without injection."""
    is_to_go: bool = False
    """Whether a policy that is for it wants it made anew."""
    noticed_at: float = 0.0
    result: Literal["told", "evicted"] = "told"
    """evicted: people were told, and it is in the queue of evictions."""

    def __str__(self) -> str:
        why = [f"the policies {', '.join(self.policies)}"] if self.policies else []
        why += (
            [f"the injection that {names.INJECT}={REQUIRED} asks for"] if self.is_required else []
        )
        return f"admission has not seen this pod: it runs without {' and without '.join(why)}"


def moment_of(text: str) -> float | None:
    """A time as an API server writes it, in seconds; None: it is none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def may_be_missed(one: FollowedObject, situation: Situation, policies: Sequence[Policy]) -> bool:
    """Whether it has to be read to know. *policies*: those of the time at which it was made."""
    subject = one.subject
    if subject.kind != POD or one.stamp or subject.namespace in NEVER_ASKED:
        return False
    if one.labels.get(names.INJECT) == REQUIRED:
        return True
    seen = candidate(situation, one.labels, {})
    return any(each.narrowed or matches(each, seen) for each in _decidable(policies))


def missed_of(
    one: FollowedObject, document: Json, situation: Situation, policies: Sequence[Policy]
) -> MissedPod | None:
    """*document*: the whole pod. Raises `PathError` when it is not shaped like one."""
    try:
        annotations = document["metadata"].get("annotations") or {}
        containers = document["spec"].get("initContainers") or ()
        has_ours = any(each.get("name") == INIT_CONTAINER for each in containers)
    except (AttributeError, KeyError, TypeError) as error:
        raise PathError(str(error)) from error
    skips = skips_of(annotations)
    if stamp_of(document, POD) or skips.everything or skips.preview or MIRROR in annotations:
        return None
    is_required = one.labels.get(names.INJECT) == REQUIRED and not has_ours
    asked = _decidable(policies)
    planned = plan(document, situation, asked).edits
    # Advice, LimitRanges, quotas and nodes of that time may have kept admission from changing amounts.
    edits = [edit for edit in planned if edit.verb != resources.VERB]
    if not (edits or is_required):
        return None
    pod = candidate_of(document, situation)
    return MissedPod(
        pod=one,
        policies=tuple(dict.fromkeys(edit.policy for edit in edits)),
        is_required=is_required,
        is_to_go=any(each.spec.missed == "Evict" and matches(each, pod) for each in asked),
    )


def _decidable(policies: Sequence[Policy]) -> Sequence[Policy]:
    """Nobody knows who has made a pod that runs."""
    return [each for each in policies if each.spec.mode == "Apply" and not each.spec.match.users]
