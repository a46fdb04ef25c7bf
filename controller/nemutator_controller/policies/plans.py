"""The edits that policies make in an object: the same for a pod at admission and for a manifest.

Sidecars come first, then all else that policies say, by their names; then the injection, which sees their results. Edits that a policy or the
pod wants previewed only are computed on top of those that are applied.

No edit is made twice: the edits in our stamp are taken off first, so that the plan for an object that
we have changed is the plan for the original, without the edits that it has already. A stamp that had
no room for its edits cannot be taken off: then no policy is followed a second time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from msgspec import Struct, structs
from nemutator_common import names

from nemutator_controller.mutations import (
    image,
    injection,
    labels,
    resources,
    sandboxes,
    sidecars,
    workload_selectors,
)
from nemutator_controller.mutations.advisor import Advisor, WithoutAdvice, WorkloadRef
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.defaults import defaulted
from nemutator_controller.mutations.edits import Draft, apply_edits
from nemutator_controller.mutations.image import Offender, UnpinnedImage
from nemutator_controller.mutations.image_commands import NO_IMAGE_COMMANDS, ImageCommands
from nemutator_controller.mutations.image_digests import NO_DIGESTS, ImageDigests, Unpinned
from nemutator_controller.mutations.injection import Injector, NotInjectedError
from nemutator_controller.mutations.known_tokens import KnownTokens, Unresolved
from nemutator_controller.mutations.labels import LeftLabel
from nemutator_controller.mutations.object_writes import Writing
from nemutator_controller.mutations.paths import (
    Json,
    PathError,
    field_path,
    label,
    template_of,
)
from nemutator_controller.mutations.pod_sizes import check_size
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.resources import Circumstances
from nemutator_controller.mutations.skips import Skips, skips_of
from nemutator_controller.mutations.stamps import stamp_of
from nemutator_controller.mutations.talkers import NO_TALKERS, Talkers
from nemutator_controller.policies.earlier_edits import before_us, missing
from nemutator_controller.policies.matches import CandidatePod, matches, matches_there
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.namespaces import PoliciesByLabel, possible
from nemutator_controller.policies.plan_tokens import images_replaced, texts_replaced, tokens_for
from nemutator_controller.policies.verbs import Finding, Surroundings

Inject = Literal["enabled", "disabled", "required"]

_WANTS_INJECTION = label(str(names.INJECT))

NO_ADVICE = WithoutAdvice("advice comes from a brain, which is not asked here")

FORGOTTEN = (
    f"left alone by policies: {names.MUTATION} says that they have changed it, and not what"
    " (apply it as it was before them, without that annotation, to have them followed again)"
)


def _chosen(policies: Iterable[Policy], pod: CandidatePod) -> list[Policy]:
    chosen: list[Policy] = []
    has_alone = False
    # Those that are found by labels are those for the pod's namespace already.
    fits = matches_there if isinstance(policies, PoliciesByLabel) else matches
    for policy in possible(policies, pod.labels):
        if policy.alone:
            if not has_alone and fits(policy, structs.replace(pod, names=pod.workload[1:])):
                has_alone = True
                chosen.append(policy)
        elif fits(policy, pod):
            chosen.append(policy)
    return chosen


def _unknown(_: str) -> None:
    return None


# A struct is made in a seventh of the time of a dataclass, and each answer needs some of these.
class Situation(Struct, frozen=True, kw_only=True):
    """What a plan depends on beside the object and the policies."""

    subject: Subject
    namespace_labels: Mapping[str, str] | None = None
    """None: they are not known."""
    injector: Injector | None = None
    """None: nothing is injected, as outside of a cluster."""
    existing: Json = None
    """The workload that an update replaces; None: it is being created."""
    user: str = ""
    """Who creates it; empty: nobody is known, as outside of a cluster."""
    advisor: Advisor = NO_ADVICE
    defaulted: bool = True
    """Whether an API server has added its defaults already, as it has to all that it sends."""
    pods_are_made: bool = False
    """Of a workload: whether what policies for pods do is shown on it as a cluster does it, to the pods that are made."""
    reversed: frozenset[str] = frozenset()
    """The paths that somebody has taken back for this workload, which are left alone."""
    unwanted: frozenset[str] = frozenset()
    """Of a pod: keys of labels that the selector of its workload wants pods without (NotIn, DoesNotExist)."""
    tokens: KnownTokens | None = None
    """None: there is no token store, and what looks like a placeholder is plain text."""
    selector_tokens: KnownTokens | None = None
    """For the verb `selectors` alone: the template of a workload keeps its placeholders for its pods."""
    runtime_handler: Callable[[str], str | None] = _unknown
    """Of a RuntimeClass, the handler; None: it is not known."""
    images: ImageCommands = NO_IMAGE_COMMANDS
    digests: ImageDigests = NO_DIGESTS
    talkers: Talkers = NO_TALKERS
    """For pods alone: a template that changed with who talks to whom would roll its pods."""
    bounds: Callable[[], ResourceBounds] = ResourceBounds
    """Of the object's namespace and its cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationPlan:
    edits: tuple[Edit, ...] = ()
    previewed: tuple[Edit, ...] = ()
    """The edits that would follow if they were not to be previewed only."""
    warnings: tuple[str, ...] = ()
    preview_warnings: tuple[str, ...] = ()
    """What would be warned of: for who asks what policies do, and not for who makes a pod."""
    unresolved: tuple[Unresolved, ...] = ()
    """Placeholders that stay as they are."""
    refused: str = ""
    """Why the object must not be let in: it requires an injection that is not possible, or a policy
    says so."""
    offenders: tuple[Offender, ...] = ()
    """What policies do not allow, those to be previewed too."""
    unpinned: tuple[Unpinned, ...] = ()
    """Of each image that a policy wants pinned and that keeps its tag, why."""
    left_labels: tuple[LeftLabel, ...] = ()
    """Labels that policies would change, and by which its workload would lose the pod."""
    sized: bool = field(default=False, compare=False)
    """Whether policies that are applied say what containers ask for."""
    writing: Writing | None = field(default=None, compare=False, repr=False)
    """What made exactly these edits of the object; None: they have to be made again."""


def plan(manifest: Json, situation: Situation, policies: Iterable[Policy]) -> MutationPlan:
    """Raises `PathError` when *manifest* is not shaped like its kind, and `TooLargeError`."""
    check_size(template_of(manifest, situation.subject.kind))
    try:
        return _plan(manifest, situation, policies)
    except (AttributeError, TypeError) as error:
        # An API server has decoded what it sends; a file may have text in the place of a list.
        raise PathError(str(error)) from error


def _plan(manifest: Json, situation: Situation, policies: Iterable[Policy]) -> MutationPlan:
    kind = situation.subject.kind
    stamp = stamp_of(manifest, kind)
    unchanged = before_us(manifest, kind, stamp)
    if not situation.defaulted:
        unchanged = defaulted(unchanged, kind)
    draft = Draft(unchanged, kind, leave=situation.reversed)
    annotations = _map(draft, "annotations")
    skips = skips_of(annotations)
    warnings = [f"{key}: {word[:40]!r} is not a verb" for key, word in skips.unknown]
    if skips.everything:
        return MutationPlan(warnings=tuple(warnings))
    pod = candidate(situation, _map(draft, "labels"), annotations)
    chosen = _chosen(policies, pod)
    if any(policy.spec.match.images or policy.conditions for policy in chosen):
        pod = structs.replace(
            pod, images=image.repositories(draft), object=(draft.manifest, draft.kind)
        )
        chosen = _chosen(chosen, pod)
    subject = situation.subject
    workload = WorkloadRef(
        subject.namespace, subject.owner_kind or kind, subject.owner_name or subject.name
    )
    circumstances = Circumstances(
        workload,
        situation.advisor,
        measured=resources.ADVICE_VERB not in skips.verbs,
        bounds=situation.bounds,
    )
    kept = labels.selected_by(draft.manifest, kind, managed=bool(subject.owner_name))
    existing = workload_selectors.match_labels(situation.existing, kind)
    surroundings = Surroundings(
        circumstances,
        kept,
        existing,
        situation.digests,
        situation.selector_tokens or situation.tokens,
        situation.talkers.of(workload),
        situation.unwanted,
    )
    of_pods = kept | labels.keys_of(draft.manifest, kind) if situation.pods_are_made else kept
    around_pods = (
        structs.replace(surroundings, kept=of_pods) if situation.pods_are_made else surroundings
    )
    follow = partial(_follow, skips=skips, around_templates=surroundings, around_pods=around_pods)
    applied = [] if skips.preview else [p for p in chosen if p.spec.mode == "Apply"]
    if stamp is not None and stamp.edits is None:
        # Our own edits could make policies match, and shares would be taken of them.
        again = draft.further()
        follow(applied, again)
        warnings += [FORGOTTEN] if again.edits() else []
        chosen = applied = []
    offenders: list[Offender] = []
    unpinned: list[Unpinned] = []
    left_labels: list[LeftLabel] = []
    # Policies that are to be previewed only give no values: what they would give is not there.
    tokens = tokens_for(chosen if skips.preview else applied, situation.tokens)
    unresolved = [] if skips.preview else images_replaced(draft, tokens, skips)
    for finding in follow(applied, draft):
        if isinstance(finding, str):
            warnings.append(finding)
        elif isinstance(finding, UnpinnedImage):
            warnings.append(finding.why)
            unpinned.append(finding.reason)
        elif isinstance(finding, LeftLabel):
            warnings.append(finding.why)
            left_labels.append(finding)
        else:
            warnings += [finding.why] if finding.result == "warned" else []
            offenders.append(finding)
    inject, refused = wants_injection(draft, situation), ""
    injected = partial(_injected, situation, inject, skips)
    replaced = partial(
        texts_replaced,
        tokens=tokens,
        skipped=skips.verbs,
        kept=of_pods,
        unwanted=situation.unwanted,
        inject=injected,
    )
    if not skips.preview:
        unresolved += replaced(draft)
        more, refused = injected(draft)
        warnings += [*map(str, unresolved), *more]
        if any(policy.first for policy in applied):
            warnings += sidecars.without_volumes(draft)
    edits = draft.edits()
    previewed: tuple[Edit, ...] = ()
    preview_warnings: list[str] = []
    to_preview = chosen if skips.preview else [p for p in chosen if p.spec.mode == "Preview"]
    if to_preview or skips.preview:
        further = draft.further()
        if skips.preview:
            images_replaced(further, tokens, skips)
        # A preview is only about what would change: its warnings do not concern the pod.
        for finding in follow(to_preview, further):
            if isinstance(finding, Offender):
                offenders.append(replace(finding, result="previewed"))
            else:
                preview_warnings.append(finding if isinstance(finding, str) else finding.why)
        if skips.preview:
            replaced(further)
            injected(further)
        preview_warnings += sidecars.without_volumes(further)
        previewed = further.edits()
    if stamp is not None or not situation.defaulted:
        edits = tuple(missing(manifest, kind, edits))
    if not situation.defaulted:
        previewed = tuple(missing(apply_edits(manifest, edits, kind), kind, previewed))
    return MutationPlan(
        edits=edits,
        previewed=previewed,
        warnings=tuple(warnings),
        preview_warnings=tuple(preview_warnings),
        refused=refused or "; ".join(each.why for each in offenders if each.result == "refused"),
        offenders=tuple(offenders),
        unpinned=tuple(unpinned),
        left_labels=tuple(left_labels),
        unresolved=tuple(unresolved),
        sized=resources.VERB not in skips.verbs
        and any(action.verb == resources.VERB for policy in applied for action in policy.actions),
        writing=draft.straight() if stamp is None and situation.defaulted else None,
    )


def wants_injection(draft: Draft, situation: Situation) -> Inject:
    own = next((word for word in draft.value(_WANTS_INJECTION)), None)
    if own is None:
        own = (situation.namespace_labels or {}).get(names.INJECT)
        return "enabled" if own == "enabled" else "disabled"
    # An unknown word asks for nothing.
    return "enabled" if own == "enabled" else "required" if own == "required" else "disabled"


def _injected(
    situation: Situation, inject: Inject, skips: Skips, draft: Draft
) -> tuple[list[str], str]:
    """Warnings, and why the pod must not be let in without it."""
    injector = situation.injector
    if injector is None or inject == "disabled" or injection.VERB in skips.verbs:
        return [], ""
    try:
        if situation.reversed & injection.ESSENTIAL:
            raise NotInjectedError("somebody has taken that back for this workload")
        for runtime_class in filter(None, draft.value(field_path("runtimeClassName"))):
            handler = situation.runtime_handler(runtime_class)
            if why := sandboxes.why_not_in(runtime_class, handler):
                raise NotInjectedError(why)
        required = inject == "required"
        images = situation.images
        return injection.apply(draft, injector, skips.verbs, images=images, required=required), ""
    except NotInjectedError as error:
        if inject == "required":
            return [], f"{names.INJECT}=required, and this pod cannot be injected: {error}"
        return [f"not injected: {error}"], ""


def _follow(
    policies: Sequence[Policy],
    draft: Draft,
    *,
    skips: Skips,
    around_templates: Surroundings,
    around_pods: Surroundings,
) -> list[Finding]:
    """Warnings, and what the policies do not allow or cannot pin."""
    return [
        finding
        for policy, actions in (
            *((policy, policy.first) for policy in policies if policy.first),
            *((policy, policy.actions) for policy in policies),
        )
        for action in actions
        if action.verb not in skips.verbs
        for finding in action.apply(
            draft, around_templates if policy.spec.apply_to == "template" else around_pods
        )
        or ()
    ]


def candidate(
    situation: Situation, pod_labels: Mapping[str, str], annotations: Mapping[str, object]
) -> CandidatePod:
    """The pod as policies see it, before anybody has read its images."""
    subject = situation.subject
    owned = bool(subject.owner_name)
    return CandidatePod(
        namespace=subject.namespace,
        namespace_labels=situation.namespace_labels,
        labels=pod_labels,
        names=tuple(filter(None, (subject.name or subject.generate_name, subject.owner_name))),
        workload=(
            (subject.owner_kind, subject.owner_name)
            if owned
            else (subject.kind, subject.name or subject.generate_name)
        ),
        annotations=annotations,
        images=None,
        user=situation.user,
    )


def _map(draft: Draft, field: str) -> Mapping[str, str]:
    for found in draft.value(field_path("metadata", field)):
        if found is None:
            continue
        if not isinstance(found, dict):
            raise PathError(f"metadata.{field}: expected an object")
        for key, value in found.items():
            # An API server refuses other values. A file may mean something by them: `skip: true`.
            if type(value) is not str and not isinstance(value, str | None):
                where = f"metadata.{field}[{str(key)[:80]}]"
                raise PathError(f"{where}: expected text, so write it in quotes")
        return {key: value for key, value in found.items() if value is not None}
    return {}
