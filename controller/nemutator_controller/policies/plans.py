"""The edits that policies make in an object: the same for a pod at admission and for a manifest.

Policies come first, by name; then the injection, which sees what they have made. What a policy
or the pod wants previewed only is computed on top of what is applied.

Nothing is done twice: what our stamp says that we did is taken off first, so that the plan for an
object that we have changed is the plan for what it was, less what it has already. Of a stamp that
had no room for what we did nothing can be taken off: then no policy is followed a second time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from nemutator_common import names

from nemutator_controller.mutations import annotations, injection, labels, resources
from nemutator_controller.mutations.advisor import Advisor, WithoutAdvice, WorkloadRef
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.defaults import defaulted
from nemutator_controller.mutations.edits import Draft, apply_edits, same
from nemutator_controller.mutations.injection import Injector, NotInjectedError
from nemutator_controller.mutations.paths import (
    FieldStep,
    Json,
    Path,
    PathError,
    parse_path,
    value_at,
)
from nemutator_controller.mutations.resources import Circumstances
from nemutator_controller.mutations.skips import Skips, skips_of
from nemutator_controller.mutations.stamps import Stamp, stamp_of
from nemutator_controller.policies.matches import CandidatePod, matches
from nemutator_controller.policies.model import Policy, PolicyMutation

Inject = Literal["enabled", "disabled", "required"]

NO_ADVICE = WithoutAdvice("advice is followed in a cluster")

FORGOTTEN = (
    f"left alone by policies: {names.MUTATION} says that they have changed it, and not what"
    " (apply it as it was before them, without that annotation, to have them followed again)"
)

_METADATA = Path((FieldStep("metadata"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a plan depends on beside the object and the policies."""

    subject: Subject
    namespace_labels: Mapping[str, str] | None = None
    """None: not known."""
    injector: Injector | None = None
    """None: nothing is injected here, as outside of a cluster."""
    advisor: Advisor = NO_ADVICE
    defaulted: bool = True
    """Whether an API server has added its defaults already, as to all that it sends."""
    reversed: frozenset[str] = frozenset()
    """Paths that somebody has taken back for this workload: they are left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationPlan:
    edits: tuple[Edit, ...] = ()
    previewed: tuple[Edit, ...] = ()
    """What would be changed further, if it were not for previews."""
    warnings: tuple[str, ...] = ()
    refused: str = ""
    """Why the object must not be let in: it requires what cannot be done."""


def plan(manifest: Json, situation: Situation, policies: Iterable[Policy]) -> MutationPlan:
    """Raises `PathError` when *manifest* is not shaped like its kind."""
    try:
        return _plan(manifest, situation, policies)
    except (AttributeError, TypeError) as error:
        # An API server has decoded what it sends; a file of people's may have text for a list.
        raise PathError(str(error)) from error


def _plan(manifest: Json, situation: Situation, policies: Iterable[Policy]) -> MutationPlan:
    kind = situation.subject.kind
    stamp = stamp_of(manifest, kind)
    unchanged = _before_us(manifest, kind, stamp)
    if not situation.defaulted:
        unchanged = defaulted(unchanged, kind)
    draft = Draft(unchanged, kind, leave=situation.reversed)
    skips = skips_of(_map(draft, "annotations"))
    warnings = [f"{key}: {word[:40]!r} is no verb" for key, word in skips.unknown]
    if skips.everything:
        return MutationPlan(warnings=tuple(warnings))
    pod = candidate(situation, _map(draft, "labels"))
    chosen = [policy for policy in policies if matches(policy, pod)]
    subject = situation.subject
    circumstances = Circumstances(
        WorkloadRef(
            subject.namespace, subject.owner_kind or kind, subject.owner_name or subject.name
        ),
        situation.advisor,
        measured=resources.ADVICE_VERB not in skips.verbs,
    )
    kept = labels.selected_by(draft.manifest, kind, managed=bool(subject.owner_name))
    follow = partial(_follow, skips=skips, circumstances=circumstances, kept=kept)
    applied = [] if skips.preview else [p for p in chosen if p.spec.mode == "Apply"]
    if stamp is not None and stamp.edits is None:
        # What we wrote opens policies, and is what a share would be taken of.
        again = draft.further()
        for policy in applied:
            follow(policy, again)
        warnings += [FORGOTTEN] if again.edits() else []
        chosen = applied = []
    for policy in applied:
        warnings += follow(policy, draft)
    inject, refused = wants_injection(draft, situation), ""
    injected = partial(_injected, situation, inject, skips)
    if not skips.preview:
        more, refused = injected(draft)
        warnings += more
    further = draft.further()
    for policy in chosen if skips.preview else [p for p in chosen if p.spec.mode == "Preview"]:
        # A preview says no more than what would change: its warnings are not the pod's.
        follow(policy, further)
    if skips.preview:
        injected(further)
    edits, previewed = draft.edits(), further.edits()
    if stamp is not None or not situation.defaulted:
        edits = tuple(_missing(manifest, kind, edits))
    if not situation.defaulted:
        previewed = tuple(_missing(apply_edits(manifest, edits, kind), kind, previewed))
    return MutationPlan(
        edits=edits,
        previewed=previewed,
        warnings=tuple(warnings),
        refused=refused,
    )


def wants_injection(draft: Draft, situation: Situation) -> Inject:
    own = _map(draft, "labels").get(names.INJECT)
    if own is None:
        own = (situation.namespace_labels or {}).get(names.INJECT)
        return "enabled" if own == "enabled" else "disabled"
    # An unknown word is not a wish.
    return "enabled" if own == "enabled" else "required" if own == "required" else "disabled"


def _injected(
    situation: Situation, inject: Inject, skips: Skips, draft: Draft
) -> tuple[list[str], str]:
    """Warnings, and why the pod must not run without."""
    injector = situation.injector
    if injector is None or inject == "disabled" or injection.VERB in skips.verbs:
        return [], ""
    try:
        if situation.reversed & injection.ESSENTIAL:
            raise NotInjectedError("somebody has taken that back for this workload")
        return injection.apply(draft, injector), ""
    except NotInjectedError as error:
        if inject == "required":
            return [], f"{names.INJECT}=required, and this pod cannot be injected: {error}"
        return [f"not injected: {error}"], ""


def _follow(
    policy: Policy,
    draft: Draft,
    *,
    skips: Skips,
    circumstances: Circumstances,
    kept: frozenset[str],
) -> list[str]:
    warnings: list[str] = []
    for mutation in policy.spec.mutations:
        for verb, act in _acts(mutation, policy.name, circumstances, kept):
            if verb not in skips.verbs:
                warnings += act(draft) or ()
    return warnings


def _acts(
    mutation: PolicyMutation, policy: str, circumstances: Circumstances, kept: frozenset[str]
) -> Iterable[tuple[str, Callable[[Draft], list[str] | None]]]:
    if mutation.labels is not None:
        yield labels.VERB, partial(labels.apply, texts=mutation.labels, kept=kept, policy=policy)
    if mutation.annotations is not None:
        yield (
            annotations.VERB,
            partial(annotations.apply, texts=mutation.annotations, policy=policy),
        )
    if mutation.resources is not None:
        yield (
            resources.VERB,
            partial(
                resources.apply,
                resources=mutation.resources,
                circumstances=circumstances,
                policy=policy,
            ),
        )


def _before_us(manifest: Json, kind: str, stamp: Stamp | None) -> Json:
    if stamp is None:
        return manifest
    try:
        return stamp.taken_off(manifest, kind)
    except PathError:
        # Not ours, then: it names what this object does not have.
        return manifest


def _missing(manifest: Json, kind: str, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Those of *edits* whose outcome *manifest* does not have yet."""
    for edit in edits:
        now = value_at(manifest, parse_path(edit.path), kind)
        if not same(now, edit.after):
            yield replace(edit, before=now)


def candidate(situation: Situation, pod_labels: Mapping[str, str]) -> CandidatePod:
    """The pod as policies see it."""
    subject = situation.subject
    return CandidatePod(
        namespace=subject.namespace,
        namespace_labels=situation.namespace_labels,
        labels=pod_labels,
        names=tuple(filter(None, (subject.name or subject.generate_name, subject.owner_name))),
    )


def _map(draft: Draft, field: str) -> Mapping[str, str]:
    for found in draft.value(_METADATA / FieldStep(field)):
        if found is None:
            continue
        if not isinstance(found, dict):
            raise PathError(f"metadata.{field}: expected an object")
        for key, value in found.items():
            # An API server refuses it. A file may mean a wish by it, such as `skip: true`.
            if not isinstance(value, str | None):
                where = f"metadata.{field}[{str(key)[:80]}]"
                raise PathError(f"{where}: expected text, so write it in quotes")
        return {key: value for key, value in found.items() if value is not None}
    return {}
