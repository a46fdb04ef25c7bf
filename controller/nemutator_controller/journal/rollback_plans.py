"""What taking a decision back will do to its object, and the decision's state after it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from nemutator_controller.journal.decision_stamps import stamp_on
from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import EditOutcome, State
from nemutator_controller.journal.reversal_steps import ReversalStep, backwards
from nemutator_controller.journal.ways import Way
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.mutations.edits import apply_edits, same
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import value_at
from nemutator_controller.mutations.stamps import Stamp, merged, stamp_text, stamping, written

NEEDS_NEW_POD = "a running pod keeps it: only a new pod can be without it (ask for an eviction)"
NO_OWNER = "a running pod keeps it, and no workload would make this pod anew: delete it yourself"
MADE_ANEW = "the pod is evicted; its workload's next one will be without it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPlan:
    """What taking a decision back would do to its object as it is now."""

    decision: Decision
    live: LiveObject
    steps: tuple[ReversalStep, ...]
    others: tuple[Decision, ...] = ()
    """Our other changes of this object, newest first."""
    policy: str = ""
    """Of which alone something is taken back; empty: of all."""

    @property
    def owner(self) -> tuple[str, str] | None:
        """Kind and name of the workload that makes such a pod anew."""
        subject = self.decision.subject
        return (subject.owner_kind, subject.owner_name) if subject.owner_name else None

    @property
    def stays_taken_back(self) -> list[Edit]:
        """What is not to be made again."""
        return [
            step.edit
            for step in self.steps
            if step.verdict in ("reverse", "already")
            and (not self.policy or step.edit.policy == self.policy)
        ]

    def by(self, way: Way) -> list[ReversalStep]:
        return [step for step in self.steps if step.verdict == "reverse" and step.way == way]


def restamped(plan: RollbackPlan) -> list[Edit]:
    """The edit after which our stamp says what is left of our changes: other mutations, and fields that
    somebody else has changed since.

    When nothing is left the stamp is removed. The stamp of a running pod stays as it is: without one
    the pod would look as if admission had missed it.
    """
    stamp = stamp_on(plan.live)
    if stamp is None:
        return []
    held = {step.edit.path for step in plan.steps if step.verdict in ("conflict", "kept")}
    if stamp.edits is None:
        if stamp.id != plan.decision.id or held:
            return []
        left = list(_standing(plan))
    else:
        taken = {step.edit.path: step.edit for step in plan.steps if step.edit.path not in held}
        left = [rest for edit in stamp.edits for rest in _rest(edit, taken.get(edit.path), plan)]
        if left == list(stamp.edits) and stamp.id != plan.decision.id:
            return []
    paths = {edit.path for edit in left}
    id_ = stamp.id
    if id_ == plan.decision.id and not paths & held:
        id_ = next((one.id for one in plan.others if paths & {e.path for e in one.edits}), id_)
    kind = plan.live.subject.kind
    text = stamp_text(plan.live.document, kind)
    return [stamping(text, *([written(Stamp(id_, tuple(left)))] if left else []), kind=kind)]


def _rest(edit: Edit, taken: Edit | None, plan: RollbackPlan) -> Iterator[Edit]:
    """What is left of the stamp's *edit* when *taken*, its last part, is taken back."""
    if taken is None:
        yield edit
        return
    older = (one for other in plan.others for one in other.edits if one.path == edit.path)
    for one in older:
        if same(one.after, taken.before):
            yield structs.replace(one, before=edit.before)
            return


def _standing(plan: RollbackPlan) -> Iterator[Edit]:
    """The edits of the other mutations that nobody has changed since, from the journal alone."""
    kind = plan.live.subject.kind
    back = [backwards(step) for step in plan.steps if step.verdict == "reverse"]
    after = apply_edits(plan.live.document, back, kind)
    stamp: Stamp | None = None
    for other in reversed(plan.others):
        stamp = merged(stamp, other.id, other.edits)
    for edit in (stamp.edits or ()) if stamp else ():
        if same(value_at(after, parse_path(edit.path), kind), edit.after):
            yield edit


def state_after(outcomes: Sequence[EditOutcome]) -> State:
    """The state of a decision after a try with these *outcomes*."""
    results = {outcome.result for outcome in outcomes}
    if results <= {"reversed", "already"}:
        return "reversed"
    if "reversed" in results or "already" in results:
        return "partly"
    return "conflict" if "conflict" in results else "observed"
