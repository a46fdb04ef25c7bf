"""What has to change in the metadata of a running pod or of a workload, by the planner of new pods: pure.

The object is planned as it was before us, and only labels and annotations of the plan are compared with what
is there. A value that we have written and that is another one now is somebody else's, and so is one that
another manager has written as well: it stays.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from nemutator_controller.following.selected_labels import found_by
from nemutator_controller.following.workload_views import (
    POD,
    as_pod,
    for_metadata,
    situation_as_pod,
)
from nemutator_controller.mutations import image
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import Draft, TooLargeError, apply_edits, same
from nemutator_controller.mutations.field_owners import later_owner
from nemutator_controller.mutations.known_tokens import POLICY as TOKENS
from nemutator_controller.mutations.known_tokens import Unresolved
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import AROUND, Json, PathError, field_path, value_at
from nemutator_controller.mutations.skips import skips_of
from nemutator_controller.mutations.stamps import (
    Stamp,
    in_full,
    stamp_of,
    stamp_text,
    stamping,
)
from nemutator_controller.policies.matches import CandidatePod, matches
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.plans import Situation, candidate, plan

FOLLOWED = ("metadata.labels[", "metadata.annotations[")
SERVED = "{} is left alone: the Service {} finds this pod by it, and it runs"
NO_LONGER = "its policy or token no longer says so"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataChange:
    edits: tuple[Edit, ...]
    """What is written now."""
    stamped: tuple[Edit, ...]
    """All that we have changed in the object then, for its stamp and for the journal."""
    left: tuple[str, ...] = ()
    """Paths that somebody else has changed since: they stay."""
    kept: tuple[str, ...] = ()
    """Why labels stay that policies would change, and by which the pod is found."""


def change_of(
    found: Json,
    situation: Situation,
    policies: Sequence[Policy],
    live: Collection[str],
    services: Mapping[str, Mapping[str, str]] = {},
) -> MetadataChange | None:
    """*policies*: those of this time; *live*: the names of those that what runs follows, and of those that it has
    followed and that are gone. *services*: the selectors of those of its namespace, by their names.

    None: nothing of *found* follows, or nobody knows how, because tokens have not been read. Raises `PathError` when it is not shaped like its kind.
    """
    try:
        return _change_of(found, situation, policies, live, services)
    except (AttributeError, KeyError, TypeError, TooLargeError) as error:
        raise PathError(str(error)) from error


def _change_of(
    found: Json,
    situation: Situation,
    policies: Sequence[Policy],
    live: Collection[str],
    services: Mapping[str, Mapping[str, str]],
) -> MetadataChange | None:
    followed, kind = set(live), situation.subject.kind
    stamp = stamp_of(found, kind)
    skips = skips_of(found["metadata"].get("annotations") or {})
    if (stamp is not None and stamp.edits is None) or skips.everything or skips.preview:
        return None
    earlier = {edit.path: edit for edit in (stamp.edits if stamp and stamp.edits else ())}
    original = _before_us(found, stamp, kind)
    pod = candidate_of(original, situation)
    chosen = [policy for policy in policies if matches(policy, pod)]
    is_meant = any(policy.name in followed for policy in chosen)
    if is_meant:
        # What a live policy is for has its tokens followed, too.
        followed.add(TOKENS)
    ours = {path: edit for path, edit in earlier.items() if _follows(edit, followed, kind)}
    if not (is_meant or ours):
        return None
    planned, unresolved, kept = _planned(original, situation, chosen)
    if unresolved and situation.tokens is not None and not situation.tokens.are_read:
        return None
    said = {edit.path: edit for edit in planned}
    # Until a policy's own placeholders counted as its, they counted as the token store's.
    ours = {
        path: edit
        for path, edit in ours.items()
        if edit.policy != TOKENS or path not in said or _follows(said[path], followed, kind)
    }
    wanted = {
        edit.path: edit
        for edit in planned
        if _follows(edit, followed, kind) and not _is_placeholder(edit, unresolved)
    }
    edits, left = _edits(found, wanted, ours, situation)
    if kind == POD and services:
        served = {edit.path: found_by(edit, _labels_of(found), services) for edit in edits}
        kept += tuple(SERVED.format(path, name) for path, name in served.items() if name)
        edits = tuple(edit for edit in edits if not served[edit.path])
    for edit in edits:
        first = earlier.pop(edit.path, None)
        if edit.path in wanted:
            before = edit.before if first is None else first.before
            earlier[edit.path] = structs.replace(edit, before=before)
    return MetadataChange(edits=edits, stamped=tuple(earlier.values()), left=left, kept=kept)


def restamped(found: Json, kind: str, decision: str, change: MetadataChange) -> Edit | None:
    """The edit of the stamp that goes with *change*; None: there is no room for it."""
    before = stamp_text(found, kind)
    if not change.stamped:
        return stamping(before, kind=kind)
    text = in_full(Stamp(decision, change.stamped))
    return None if text is None else stamping(before, text, kind=kind)


def _planned(
    original: Json, situation: Situation, chosen: Sequence[Policy]
) -> tuple[Sequence[Edit], Sequence[Unresolved], tuple[str, ...]]:
    """The edits, the placeholders that stay as they are, and why labels stay that its workload does not want."""
    kind = situation.subject.kind
    if kind == POD:
        planned = plan(original, situation, chosen)
        kept = tuple(each.why for each in planned.left_labels if each.reason == "unwanted")
        return planned.edits, planned.unresolved, kept
    own = plan(as_pod(original, kind), situation_as_pod(situation), for_metadata(chosen))
    return (
        [structs.replace(edit, path=AROUND + edit.path) for edit in own.edits],
        [replace(each, path=AROUND + each.path) for each in own.unresolved],
        (),
    )


def _labels_of(found: Json) -> Mapping[str, object]:
    there = value_at(found, field_path("metadata", "labels"), POD)
    labels: Mapping[str, object] | None = there[0] if there else None
    return labels or {}


def _is_placeholder(edit: Edit, unresolved: Sequence[Unresolved]) -> bool:
    """Whether it would write a placeholder, for which there is no token, into what runs."""
    return any(edit.path == each.path or edit.after == (each.placeholder,) for each in unresolved)


def _edits(
    found: Json, wanted: dict[str, Edit], ours: dict[str, Edit], situation: Situation
) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    edits: list[Edit] = []
    left: list[str] = []
    kind = situation.subject.kind
    for path in (*wanted, *(path for path in ours if path not in wanted)):
        if path in situation.reversed:
            continue
        steps = parse_path(path)
        now = value_at(found, steps, kind)
        first = ours.get(path)
        if path in wanted:
            edit = wanted[path]
        else:
            edit = structs.replace(ours[path], after=ours[path].before, reason=NO_LONGER)
        if same(now, edit.after):
            continue
        if first is not None and (
            not same(now, first.after)
            or later_owner(found, kind, steps, before=first.before, since=0.0)
        ):
            left.append(path)
        else:
            edits.append(structs.replace(edit, before=now))
    return tuple(edits), tuple(left)


def _before_us(found: Json, stamp: Stamp | None, kind: str) -> Json:
    if stamp is None:
        return found
    try:
        unchanged = stamp.taken_off(found, kind)
    except PathError:
        # The stamp is not ours: it names what this object does not have.
        unchanged = found
    return apply_edits(unchanged, [stamping((), kind=kind)], kind)


def candidate_of(found: Json, situation: Situation) -> CandidatePod:
    """The pod that the object is or makes, as policies see it."""
    draft = Draft(found, situation.subject.kind)
    texts = (draft.value(field_path("metadata", field)) for field in ("labels", "annotations"))
    labels, annotations = ((each[0] if each else None) or {} for each in texts)
    pod = candidate(situation, labels, annotations)
    return structs.replace(pod, images=image.repositories(draft))


def _follows(edit: Edit, policies: Collection[str], kind: str) -> bool:
    path = edit.path if kind == POD else edit.path.removeprefix(AROUND)
    is_its_own = kind == POD or path != edit.path
    return is_its_own and edit.policy in policies and path.startswith(FOLLOWED)
