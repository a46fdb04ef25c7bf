"""The steps that take a decision back, from three values of each field: before, after and now.

Only a field that still has our value gets its old one back. A value that somebody else has written
since stays, and is named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from msgspec import structs

from nemutator_controller.journal.ways import Way, way_of
from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.mutations import workload_selectors
from nemutator_controller.mutations.decisions import Decision, Edit, Maybe
from nemutator_controller.mutations.edits import apply_edits, same
from nemutator_controller.mutations.field_owners import later_owner
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import FieldStep, Path, PathError, value_at
from nemutator_controller.mutations.qos import class_of

Verdict = Literal["reverse", "already", "kept", "conflict"]

UNKNOWN_VALUE = "its value comes from a secret, of which the journal has only a digest"
NEWER_STANDS = "a newer change of the same field stays, so this older one does"
NEWER_SET_IT = "a newer mutation has set it since, take that one back first"
OF_ANOTHER = "it is of another policy"
DIFFERENT = "somebody else has changed it since"
UNCHANGEABLE = (
    "an existing workload keeps its selector and these labels: create it anew without the policy"
)
REMOVED = "somebody else has removed it since"
THEIRS = "has written the same value since"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalStep:
    """What is to be done about one edit."""

    edit: Edit
    live: Maybe
    """The value of the field now, or after the steps before."""
    verdict: Verdict
    way: Way
    why: str = ""


def steps_back(
    decisions: Sequence[Decision],
    document: Mapping[str, Any],
    kind: str,
    *,
    running: bool,
    newer: Sequence[Decision] = (),
    policy: str = "",
) -> tuple[ReversalStep, ...]:
    """How to take back *decisions*, newest first, from the object that is now *document*.

    *newer*: our later decisions about it, which stand. *policy*: of which edits are taken back; empty: of all.
    """
    now: Any = document
    left: list[Path] = []
    steps: list[ReversalStep] = []
    for decision in decisions:
        for edit in reversed(decision.edits):
            step, path = _step(edit, now, kind, left, running=running)
            if policy and edit.policy != policy and step.verdict != "already":
                step = replace(step, verdict="kept", why=OF_ANOTHER)
            if path is not None and (owner := _owner_of(step, path, document, kind, decision)):
                step = replace(step, verdict="conflict", why=f"{owner} {THEIRS}")
            # The same value as well: it is that one's, of another object of this name perhaps.
            is_open = step.verdict == "reverse" or step.why in (DIFFERENT, REMOVED)
            if is_open and path is not None and (other := _writer_of(step, newer)):
                step = replace(step, verdict="conflict", why=f"{NEWER_SET_IT}: {other.id}")
            if step.verdict == "reverse":
                try:
                    now = apply_edits(now, [backwards(step)], kind)
                except PathError as error:
                    # What the field was in is gone, too.
                    step = replace(step, verdict="conflict", why=str(error))
            if step.verdict in ("conflict", "kept") and path is not None:
                left.append(path)
            steps.append(step)
    return _within_the_class(steps, document, kind)


def backwards(step: ReversalStep) -> Edit:
    """The edit that takes the step's one back."""
    return structs.replace(step.edit, before=step.live, after=step.edit.before, reason="taken back")


def _step(
    edit: Edit, now: Any, kind: str, left: Sequence[Path], *, running: bool
) -> tuple[ReversalStep, Path | None]:
    try:
        path = parse_path(edit.path)
        live = value_at(now, path, kind)
    except PathError as error:
        step = ReversalStep(edit=edit, live=(), verdict="conflict", way="patch", why=str(error))
        return step, None
    way = way_of(kind, path, edit.before, running=running)
    verdict, why = _verdict(edit, path, live, way, left)
    if verdict == "reverse" and running and edit.verb == workload_selectors.VERB:
        verdict, why = "conflict", UNCHANGEABLE
    return ReversalStep(edit=edit, live=live, verdict=verdict, way=way, why=why), path


def _verdict(
    edit: Edit, path: Path, live: Maybe, way: Way, left: Sequence[Path]
) -> tuple[Verdict, str]:
    if any(_overlap(path, other) for other in left):
        return "conflict", NEWER_STANDS
    if edit.digest:
        # A new pod is made without the old one's values.
        return ("reverse", "") if way == "new pod" and live else ("conflict", UNKNOWN_VALUE)
    amounts = FieldStep("resources") in path.steps
    if alike(live, edit.after, amounts=amounts) or (
        # The server adds its defaults to what we added; a new pod is made without both.
        way == "new pod" and covers(live, edit.after, amounts=amounts)
    ):
        return "reverse", ""
    if alike(live, edit.before, amounts=amounts):
        return "already", ""
    return "conflict", DIFFERENT if live else REMOVED


def _owner_of(
    step: ReversalStep, path: Path, document: Mapping[str, Any], kind: str, decision: Decision
) -> str:
    """Who else has the field of the object that the step would change; empty: nobody."""
    if step.verdict != "reverse" or step.way == "new pod":
        return ""
    return later_owner(document, kind, path, before=step.edit.before, since=decision.at)


def _writer_of(step: ReversalStep, newer: Sequence[Decision]) -> Decision | None:
    """The decision of ours that gave the field its value."""
    path = step.edit.path
    amounts = FieldStep("resources") in parse_path(path).steps
    return next(
        (
            decision
            for decision in newer
            for edit in decision.edits
            if edit.path == path and alike(step.live, edit.after, amounts=amounts)
        ),
        None,
    )


def _within_the_class(
    steps: Sequence[ReversalStep], document: Mapping[str, Any], kind: str
) -> tuple[ReversalStep, ...]:
    """A resize must not change a pod's quality-of-service class (KEP-1287): then it needs a new pod."""
    resized = [step for step in steps if step.verdict == "reverse" and step.way == "resize"]
    if not resized:
        return tuple(steps)
    after = apply_edits(document, map(backwards, resized), kind)
    if class_of(after, kind) == class_of(document, kind):
        return tuple(steps)
    return tuple(replace(step, way="new pod") if step in resized else step for step in steps)


def _overlap(one: Path, other: Path) -> bool:
    """Whether both name the same field, or one names a part of the other."""
    common = min(len(one.steps), len(other.steps))
    return one.steps[:common] == other.steps[:common]


def alike(left: Any, right: Any, *, amounts: bool = False) -> bool:
    """Whether both are the same value; *amounts*: `0.5` is `500m`, as the server writes it."""
    if not amounts:
        return same(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            alike(left[key], right[key], amounts=True) for key in left
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(
            alike(one, other, amounts=True) for one, other in zip(left, right, strict=True)
        )
    return same(left, right) or _same_amount(left, right)


def covers(live: Any, wanted: Any, *, amounts: bool = False) -> bool:
    """Whether *live* has all that *wanted* has, and perhaps more fields, or items in between.

    Further items are allowed only among objects: the server mounts its token into our container, too,
    but a further argument would make another command.
    """
    if isinstance(live, dict) and isinstance(wanted, dict):
        return all(
            covers(live[key], value, amounts=amounts or key == "resources")
            # The server does not store what is empty.
            if key in live
            else value is None or value == {} or value == []
            for key, value in wanted.items()
        )
    if isinstance(live, list | tuple) and isinstance(wanted, list | tuple):
        if any(not isinstance(item, dict) for item in (*live, *wanted)):
            return len(live) == len(wanted) and all(
                covers(one, other, amounts=amounts) for one, other in zip(live, wanted, strict=True)
            )
        # They share one iterator, because our items must be in the same order.
        rest = iter(live)
        return all(any(covers(one, item, amounts=amounts) for one in rest) for item in wanted)
    return alike(live, wanted, amounts=amounts)


def _same_amount(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if not isinstance(left, str | int | float) or not isinstance(right, str | int | float):
        return False
    try:
        return parse_quantity(str(left)) == parse_quantity(str(right))
    except QuantityError:
        return False
