"""What an edited policy would make different of the objects that there are: pure.

Each object is planned for twice without our own edits: with the policies as they are, and with the edited
one in its place. What differs is what would differ of an object that is created as this one was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.edits import apply_edits, same
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.mutations.stamps import stamp_of, stamping
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.plans import FORGOTTEN, MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import Policies

MOST_LISTED = 100
"""Objects of one answer: a person reads a few, and wants to know of how many there are more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningObject:
    subject: Subject
    document: Mapping[str, Any] = field(repr=False)
    namespace_labels: Mapping[str, str] | None
    """None: they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningObjects:
    items: Sequence[RunningObject]
    more: bool
    """Whether there are further ones, which were not read."""
    defaulted: bool
    """Whether an API server has added its defaults to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedObject:
    subject: Subject
    edits: tuple[Edit, ...] = ()
    """From what policies make of it now to what they would."""
    refused: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPreview:
    objects: int
    """How many were planned for."""
    changed: int
    """Of how many something would be different."""
    items: tuple[PreviewedObject, ...]
    """The first of those."""


def edited(policies: Policies, policy: Policy) -> Policies:
    """*policies* with *policy* in the place of the one of its name."""
    others = [each for each in policies.sound if each.name != policy.name]
    sound = sorted([*others, policy], key=lambda each: each.name)
    faulty = {name: why for name, why in policies.faulty.items() if name != policy.name}
    return Policies(tuple(sound), faulty)


def preview(
    objects: Sequence[RunningObject], before: Policies, after: Policies, *, defaulted: bool
) -> PolicyPreview:
    found = [_changed(each, before, after, defaulted=defaulted) for each in objects]
    changed = [each for each in found if each is not None]
    return PolicyPreview(
        objects=len(objects), changed=len(changed), items=tuple(changed[:MOST_LISTED])
    )


def _changed(
    one: RunningObject, before: Policies, after: Policies, *, defaulted: bool
) -> PreviewedObject | None:
    """None: nothing would be different."""
    subject = one.subject
    try:
        bare = _without_us(one.document, subject.kind)
        if bare is None:
            return PreviewedObject(subject=subject, warnings=(FORGOTTEN,))
        situation = Situation(
            subject=subject, namespace_labels=one.namespace_labels, defaulted=defaulted
        )
        now, then = (
            plan(bare, situation, _for(policies, subject.kind, defaulted=defaulted))
            for policies in (before, after)
        )
    except (PathError, RecursionError) as error:
        why = f"not shaped like a {subject.kind}: {str(error)[:200]}"
        return PreviewedObject(subject=subject, warnings=(why,))
    edits = tuple(_between(_wanted(now), _wanted(then)))
    refused = "" if then.refused == now.refused else then.refused
    known = (*now.warnings, *now.preview_warnings)
    warnings = tuple(each for each in (*then.warnings, *then.preview_warnings) if each not in known)
    if not edits and not refused and not warnings:
        return None
    return PreviewedObject(subject=subject, edits=edits, refused=refused, warnings=warnings)


def _for(policies: Policies, kind: str, *, defaulted: bool) -> tuple[Policy, ...]:
    if not defaulted:
        return policies.for_manifest(kind)
    return policies.for_pods if kind == "Pod" else policies.for_templates


def _without_us(document: Mapping[str, Any], kind: str) -> Any:
    """*document* without our edits and our stamp; None: the stamp does not say what they were."""
    stamp = stamp_of(document, kind)
    if stamp is None:
        return document
    if stamp.edits is None:
        return None
    return apply_edits(stamp.taken_off(document, kind), [stamping((), kind=kind)], kind)


def _wanted(planned: MutationPlan) -> Mapping[str, Edit]:
    """By path, what all policies want there, those that only preview too."""
    return {edit.path: edit for edit in (*planned.edits, *planned.previewed)}


def _between(now: Mapping[str, Edit], then: Mapping[str, Edit]) -> list[Edit]:
    found = []
    for path in sorted(now.keys() | then.keys()):
        old, new = now.get(path), then.get(path)
        if new is None:
            assert old is not None
            found.append(
                structs.replace(old, before=old.after, after=old.before, reason="not any more")
            )
        elif old is None:
            found.append(new)
        elif not same(old.after, new.after):
            found.append(structs.replace(new, before=old.after))
    return found
