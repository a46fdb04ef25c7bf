"""The plan of a rollback and its end, for people."""

from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_ctl.answers import understood
from nemutator_ctl.edits import FieldValue, ShownObject, one_line
from nemutator_ctl.terminal_text import visible

WIDTH = 200


@dataclass(frozen=True, slots=True)
class PlannedStep:
    path: str
    what: str
    verdict: str
    way: str
    live: FieldValue
    before: FieldValue
    after: FieldValue


@dataclass(frozen=True, slots=True)
class ShownPlan:
    id: str
    object: ShownObject
    steps: tuple[PlannedStep, ...]

    @property
    def does_something(self) -> bool:
        return any(step.verdict == "reverse" for step in self.steps)

    @property
    def keeps_something(self) -> bool:
        """It leaves a part of the mutation as it is."""
        return any(step.verdict == "conflict" for step in self.steps)


@dataclass(frozen=True, slots=True)
class FieldOutcome:
    path: str
    result: str
    why: str


@dataclass(frozen=True, slots=True)
class ShownRollback:
    id: str
    object: ShownObject
    state: str
    outcomes: tuple[FieldOutcome, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all that was asked for is taken back."""
        results = {each.result for each in self.outcomes}
        return self.state == "reversed" or "kept" in results <= {"reversed", "already", "kept"}


def decode_plan(document: object) -> ShownPlan:
    return understood(document, ShownPlan, "the plan of a rollback")


def decode_rollback(document: object) -> ShownRollback:
    return understood(document, ShownRollback, "the end of a rollback")


def is_pod(word: str) -> bool:
    """Whether *word* names a pod as NAMESPACE/NAME does."""
    namespace, _, name = word.partition("/")
    return bool(namespace and name) and "/" not in name


def plan_view(plan: ShownPlan) -> str:
    """What will be done to each field."""
    return _text([f"{plan.id}: {plan.object}", *_steps(plan)])


def rollback_view(rollback: ShownRollback) -> str:
    """What became of each field."""
    ends = [
        f"  {each.path}: {each.result}" + (f": {each.why}" if each.why else "")
        for each in rollback.outcomes
    ]
    return _text([f"{rollback.id}: {rollback.object}", *ends, f"  {rollback.state}"])


def _steps(plan: ShownPlan) -> Iterable[str]:
    for step in plan.steps:
        yield f"  {step.path}: {step.what}"
        if step.verdict == "reverse":
            yield f"      {one_line(step.live)} → {one_line(step.before)}"
        elif step.verdict == "conflict":
            yield f"      is {one_line(step.live)}, we had set {one_line(step.after)}"


def _text(lines: Iterable[str]) -> str:
    return "".join(visible(line, limit=WIDTH) + "\n" for line in lines)
