"""Plans that were made and proven for pods before: a workload makes many that are alike.

A plan depends on nothing but the object, its situation and what is known of the cluster. So it is made
once for pods whose objects say the same, but for what no policy that may be for them reads: those of a workload's next
revision are like those of the last one. Each gets a stamp with an id of its own. When anything
that is known of the cluster has changed, all plans are forgotten.
"""

import operator
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
from nemutator_common import names

from nemutator_controller.admission.container_amounts import (
    AmountPlaces,
    ContainerAmounts,
    growth_by,
)
from nemutator_controller.admission.container_names import (
    ContainerNames,
    NamePlaces,
    container_names,
)
from nemutator_controller.admission.plan_contents import TOKEN_VOLUME, content_of
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.resource_bounds import Growth, ResourceBounds
from nemutator_controller.mutations.resources import Sizing
from nemutator_controller.mutations.stamps import Stamp, in_full, written
from nemutator_controller.policies.plans import MutationPlan, Situation
from nemutator_controller.policies.readings import EVERYTHING
from nemutator_controller.policies.snapshot import Policies

MOST = 512
"""Plans in memory."""

LARGEST_PATCH = 12 << 10
"""Bytes of a patch that is kept: the most that all of them take is some tens of megabytes."""

LONGEST_ID = 16
"""Characters of the id of a decision."""

_BEFORE_ID = '{"id":"'
_PLAIN_ID = re.compile("[0-9a-z]+")

Circumstances = tuple[object, ...]
"""What there is room for comes last."""


class PlanKey(NamedTuple):
    """What plans are found by."""

    shape: tuple[Any, ...]
    names: ContainerNames | None
    """Those of containers, where they make no other difference."""
    amounts: ContainerAmounts | None
    """What containers ask for, where that makes no difference but to other amounts. What there is room for is not among
    what plans are found by then: a quota has less left after each pod."""


class Sized(NamedTuple):
    """What other amounts depend on beside those of the pod."""

    spec: Mapping[str, Any]
    sizing: Sizing | None
    bounds: ResourceBounds


class KnownPlan(msgspec.Struct, frozen=True, gc=False):
    planned: MutationPlan
    operations: tuple[Operation, ...]
    stamp_at: int
    """The index of the operation that writes the stamp."""
    behind_id: str = ""
    """The end of each stamp, which is the same but for the id before it; empty: it is written anew for each pod."""

    def stamp_text(self, decision: str) -> str:
        """That of a further pod."""
        if self.behind_id and len(decision) <= LONGEST_ID and _PLAIN_ID.fullmatch(decision):
            return f"{_BEFORE_ID}{decision}{self.behind_id}"
        return written(Stamp(decision, self.planned.edits))

    def operations_for(self, stamp: str) -> list[Operation]:
        """The patch for a further pod, which gets this *stamp*."""
        before = self.operations[self.stamp_at]
        value = stamp if isinstance(before["value"], str) else {str(names.MUTATION): stamp}
        operations = list(self.operations)
        operations[self.stamp_at] = before | {"value": value}
        return operations


class _FirstOfShape:
    """The plan of the first pod of a shape, of which are made those of pods that differ in names and amounts of their
    containers alone."""

    __slots__ = ("_amounts", "_key", "_known", "_names", "sized")

    def __init__(self, key: PlanKey, known: KnownPlan, *, sized: bool) -> None:
        """*sized*: whether policies say what containers ask for."""
        self._key, self._known, self.sized = key, known, sized
        self._names: NamePlaces | None = None
        self._amounts: AmountPlaces | None = None

    def like(self, key: PlanKey, to: Sized) -> KnownPlan | None:
        """The plan of another pod; None: it is not known, or has no room in its stamp."""
        first, known = self._key, self._known
        edits, operations = list(known.planned.edits), list(known.operations)
        names_differ = key.names != first.names
        amounts_differ = key.amounts != first.amounts
        if amounts_differ and key.amounts is not None:
            spec, sizing, bounds = to
            if self._amounts is None:
                # Where names count they are the same.
                called = first.names or container_names(spec) or ()
                self._amounts = AmountPlaces.found(edits, operations, called)
            places = self._amounts
            sizing = sizing if self.sized else None
            if places is None or not places.resize(
                edits, operations, spec, key.amounts, sizing, bounds
            ):
                return None
        if names_differ and key.names is not None and first.names is not None:
            if self._names is None:
                self._names = NamePlaces(edits, operations, first.names)
            self._names.rename(edits, operations, key.names)
        if not (names_differ or amounts_differ):
            return known
        made = tuple(edits)
        end = end_of_stamps(made)
        if end is None:
            return None
        return KnownPlan(MutationPlan(edits=made), tuple(operations), known.stamp_at, end)


def are_same(known_now: Sequence[object], known_then: Sequence[object]) -> bool:
    """Whether all that is known of the cluster is the very same."""
    return len(known_then) == len(known_now) and all(map(operator.is_, known_now, known_then))


def circumstances_of(
    labels: Mapping[str, str] | None,
    taken_back: frozenset[str],
    unwanted: frozenset[str],
    bounds: ResourceBounds,
) -> Circumstances:
    """What is known of the namespace and the workload of a pod."""
    return (
        None if labels is None else frozenset(labels.items()),
        taken_back,
        unwanted,
        bounds.ranges,
        tuple(bounds.largest.items()),
        bounds.rooms,
    )


class KnownPlans:
    """Those that hold for what is known of the cluster now."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known_then: tuple[object, ...] = ()
        self._plans: dict[PlanKey, KnownPlan] = {}
        self._shapes: dict[tuple[Any, ...], _FirstOfShape] = {}
        """By keys without names and amounts of containers."""
        self._begins: dict[PlanKey, str] = {}
        """Of generated names, that of the last pod of each plan."""
        self._growths: dict[PlanKey, tuple[Growth, ...] | None] = {}
        """What the pods of each plan ask for more by it; None: it is not known."""

    def __len__(self) -> int:
        return len(self._plans)

    def key_of(
        self,
        pod: Any,
        situation: Situation,
        policies: Policies,
        circumstances: Circumstances,
        *,
        has_placeholder: bool = True,
    ) -> PlanKey | None:
        """What plans are found by; None: that of *pod* is not kept. *has_placeholder*: tokens may stand anywhere in it."""
        known_now = (
            policies,
            situation.injector,
            situation.advisor,
            situation.tokens,
            situation.images,
            situation.talkers,
        )
        if not are_same(known_now, self._known_then):
            self._plans.clear()
            self._shapes.clear()
            self._begins.clear()
            self._growths.clear()
            self._known_then = known_now
        subject = situation.subject
        unread = EVERYTHING
        if situation.tokens is None or not has_placeholder:
            unread = policies.for_pods_of(subject.namespace).unread
        found = content_of(pod, unread, situation)
        if found is None:
            return None
        content, names, amounts = found
        who: object = subject
        if unread.pod_names and subject.owner_name:
            owner = subject.namespace, subject.owner_kind, subject.owner_name
            who = subject.namespace if unread.workload else owner
        if amounts is not None:
            circumstances = circumstances[:-1]
        digest = blake2b(content, digest_size=16).digest()
        left_out = names is not None, amounts is not None
        return PlanKey((digest, who, situation.user, circumstances, left_out), names, amounts)

    def find(self, key: PlanKey | None, to: Sized) -> KnownPlan | None:
        """*to*: what its amounts may have to be made of."""
        if key is None:
            return None
        known = self._plans.get(key)
        if known is None and (first := self._shapes.get(key.shape)) is not None:
            known = first.like(key, to)
            if known is not None:
                self._remember(key, known)
        if known is None or not self._has_room(key, known, to):
            return None
        return known

    def _has_room(self, key: PlanKey, known: KnownPlan, to: Sized) -> bool:
        """Whether no more is asked for than there is room for now."""
        rooms = to.bounds.rooms
        if key.amounts is None or not rooms:
            return True
        if key not in self._growths:
            self._growths[key] = growth_by(known.planned.edits, to.spec)
        growth = self._growths[key]
        return growth is not None and all(each.fits(room) for each in growth for room in rooms)

    def _remember(self, key: PlanKey, known: KnownPlan) -> None:
        while len(self._plans) >= self._most:
            oldest = next(iter(self._plans))
            del self._plans[oldest]
            self._begins.pop(oldest, None)
            self._growths.pop(oldest, None)
        self._plans[key] = known

    def repeats(self, key: PlanKey | None, begin: str) -> bool:
        """Whether the pod before this one of the same plan had the same *begin* of its generated name: those of one
        revision are alike in all they say."""
        return key is not None and key in self._plans and self.begins_again(key, begin)

    def begins_again(self, key: PlanKey, begin: str) -> bool:
        """The same of a plan that is known otherwise."""
        before, self._begins[key] = self._begins.pop(key, None), begin
        if len(self._begins) > self._most:
            del self._begins[next(iter(self._begins))]
        return bool(begin) and before == begin

    def is_sized(self, key: PlanKey) -> bool | None:
        """Whether policies say what containers ask for, where other amounts make no other plan; None: that is not known."""
        first = self._shapes.get(key.shape)
        return None if first is None else first.sized

    def keep(
        self,
        key: PlanKey | None,
        planned: MutationPlan,
        stamp: Stamp,
        text: str | None,
        operations: list[Operation],
        patch: bytes,
    ) -> KnownPlan | None:
        """Keep what was *planned* for the pods of *key*, and proven, if all of them get just that.

        *text*: of the *stamp* with all its edits; None: there is no room for them. *patch*: the *operations*.
        """
        if (
            key is None
            or text is None
            or stamp.edits != planned.edits
            or planned.warnings
            or planned.previewed
            or planned.offenders
            or planned.unresolved
            or planned.unpinned
            or planned.left_labels
            or planned.refused
        ):
            return None
        stamp_at = _written_at(text, operations)
        if stamp_at is None or len(patch) > LARGEST_PATCH or TOKEN_VOLUME.encode() in patch:
            return None
        # All else of it is empty, and what has made the edits is not needed any more.
        kept = MutationPlan(edits=planned.edits)
        known = KnownPlan(kept, tuple(operations), stamp_at, end_of_stamps(planned.edits) or "")
        self._remember(key, known)
        if key.names is not None or key.amounts is not None:
            if len(self._shapes) >= self._most:
                del self._shapes[next(iter(self._shapes))]
            self._shapes[key.shape] = _FirstOfShape(key, known, sized=planned.sized)
        return known


def _written_at(text: str, operations: list[Operation]) -> int | None:
    """The index of the operation that writes the stamp of that *text*. What has just been proven comes last, but for tests."""
    values = text, {names.MUTATION: text}
    for at in range(len(operations) - 1, -1, -1):
        if operations[at].get("value") in values:
            return at
    return None


def end_of_stamps(edits: tuple[Edit, ...]) -> str | None:
    """What stamps with *edits* end in; None: they have no room for them, with an id of any length that ours have."""
    id_ = "0" * LONGEST_ID
    text = in_full(Stamp(id_, edits))
    return None if text is None else text.removeprefix(_BEFORE_ID + id_)
