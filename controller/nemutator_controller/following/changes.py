"""What has to change in the metadata of a running pod, by the planner that plans new ones: pure.

The pod is planned as it was before us, and only labels and annotations of the plan are compared with what
is there. A value that we have written and that is another one now is somebody else's: it stays.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from nemutator_controller.mutations import image
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import Draft, apply_edits, same
from nemutator_controller.mutations.known_tokens import POLICY as TOKENS
from nemutator_controller.mutations.paths import Json, PathError, parse_path, value_at
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

POD = "Pod"
FOLLOWED = ("metadata.labels[", "metadata.annotations[")
NO_LONGER = "its policy or token no longer says so"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataChange:
    edits: tuple[Edit, ...]
    """What is written now."""
    stamped: tuple[Edit, ...]
    """All that we have changed in the pod then, for its stamp and for the journal."""
    left: tuple[str, ...] = ()
    """Paths that somebody else has changed since: they stay."""


def change_of(
    pod: Json, situation: Situation, policies: Sequence[Policy], live: Collection[str]
) -> MetadataChange | None:
    """*policies*: those of this time; *live*: the names of those that are ever followed by pods that run.

    None: nothing of it follows. Raises `PathError` when *pod* is not shaped like one.
    """
    followed = set(live)
    stamp = stamp_of(pod, POD)
    annotations = pod.get("metadata", {}).get("annotations") or {}
    skips = skips_of(annotations)
    if (stamp is not None and stamp.edits is None) or skips.everything or skips.preview:
        return None
    earlier = {edit.path: edit for edit in (stamp.edits if stamp and stamp.edits else ())}
    original = _before_us(pod, stamp)
    is_meant = any(
        each.name in followed and matches(each, _candidate(original, situation))
        for each in policies
    )
    if is_meant:
        # What a live policy is for has its tokens followed, too.
        followed.add(TOKENS)
    ours = {path: edit for path, edit in earlier.items() if _follows(edit, followed)}
    if not (is_meant or ours):
        return None
    planned = plan(original, situation, policies).edits
    wanted = {edit.path: edit for edit in planned if _follows(edit, followed)}
    edits, left = _edits(pod, wanted, ours, leave=situation.reversed)
    for edit in edits:
        first = earlier.pop(edit.path, None)
        if edit.path in wanted:
            before = edit.before if first is None else first.before
            earlier[edit.path] = replace(edit, before=before)
    return MetadataChange(edits=edits, stamped=tuple(earlier.values()), left=left)


def restamped(pod: Json, decision: str, change: MetadataChange) -> Edit | None:
    """The edit of the stamp that goes with *change*; None: there is no room for it."""
    before = stamp_text(pod, POD)
    if not change.stamped:
        return stamping(before)
    text = in_full(Stamp(decision, change.stamped))
    return None if text is None else stamping(before, text)


def _edits(
    pod: Json, wanted: dict[str, Edit], ours: dict[str, Edit], *, leave: Collection[str]
) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    edits: list[Edit] = []
    left: list[str] = []
    for path in (*wanted, *(path for path in ours if path not in wanted)):
        if path in leave:
            continue
        now, first = value_at(pod, parse_path(path), POD), ours.get(path)
        if path in wanted:
            edit = wanted[path]
        else:
            edit = replace(ours[path], after=ours[path].before, reason=NO_LONGER)
        if same(now, edit.after):
            continue
        if first is not None and not same(now, first.after):
            left.append(path)
        else:
            edits.append(replace(edit, before=now))
    return tuple(edits), tuple(left)


def _before_us(pod: Json, stamp: Stamp | None) -> Json:
    if stamp is None:
        return pod
    try:
        unchanged = stamp.taken_off(pod, POD)
    except PathError:
        # The stamp is not ours: it names what this object does not have.
        unchanged = pod
    return apply_edits(unchanged, [stamping(())], POD)


def _candidate(pod: Json, situation: Situation) -> CandidatePod:
    metadata = pod["metadata"]
    found = candidate(situation, metadata.get("labels") or {}, metadata.get("annotations") or {})
    return replace(found, images=image.repositories(Draft(pod, POD)))


def _follows(edit: Edit, policies: Collection[str]) -> bool:
    return edit.policy in policies and edit.path.startswith(FOLLOWED)
