"""What taking a decision back will do to its object, and what it makes of the decision."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common.decisions import Decision, Edit

from nemutator_controller.journal.living import Live
from nemutator_controller.journal.marks import mark_of
from nemutator_controller.journal.records import Outcome, State
from nemutator_controller.journal.reversing import Step
from nemutator_controller.journal.ways import Way
from nemutator_controller.mutations.paths import value_at
from nemutator_controller.mutations.stamps import PATH

NEEDS_NEW_POD = "a running pod keeps it: only a new pod can be without it (ask for an eviction)"
NO_OWNER = "a running pod keeps it, and no workload would make this pod anew: delete it yourself"
MADE_ANEW = "the pod is evicted; its workload's next one will be without it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What taking a decision back would do to its object as it is now."""

    decision: Decision
    live: Live
    steps: tuple[Step, ...]

    @property
    def owner(self) -> tuple[str, str] | None:
        """Kind and name of the workload that makes such a pod anew."""
        subject = self.decision.subject
        return (subject.owner_kind, subject.owner_name) if subject.owner_name else None

    def by(self, way: Way) -> list[Step]:
        return [step for step in self.steps if step.verdict == "reverse" and step.way == way]


def unmarked(live: Live, decision: Decision, steps: Sequence[Step]) -> list[Edit]:
    """What takes our mark off, too, when nothing of the decision will be left.

    A running pod keeps it: without one it would look as if admission had missed it.
    """
    mark = mark_of(live)
    if mark is None or mark.id != decision.id or any(s.verdict == "conflict" for s in steps):
        return []
    text = value_at(live.document, PATH, live.subject.kind)
    return [Edit(path=str(PATH), before=text, after=(), verb="stamp", policy="")]


def state_after(outcomes: Sequence[Outcome]) -> State:
    """What a try with these *outcomes* makes of its decision."""
    results = {outcome.result for outcome in outcomes}
    if results <= {"reversed", "already"}:
        return "reversed"
    if "reversed" in results or "already" in results:
        return "partly"
    return "conflict" if "conflict" in results else "observed"
