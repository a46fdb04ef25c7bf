from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_common.decisions import Edit
from nemutator_controller.journal.living import Live
from nemutator_controller.journal.plans import Plan, state_after, unmarked
from nemutator_controller.journal.records import Outcome
from nemutator_controller.journal.reversing import steps_back
from nemutator_controller.mutations.stamps import PATH, Stamp, written

from tests.fakes.decisions import CPU, INIT, POD, TEAM, changed_pod, decision

GONE = "metadata.labels[gone]"
MARK = written(Stamp("d1", ()))


def marked(mark: str = MARK, **labels: str) -> Plan:
    pod = changed_pod(**labels)
    pod["metadata"]["annotations"] = {names.MUTATION: mark}
    live = Live(subject=POD, document=pod, version="1")
    steps = steps_back([decision()], pod, "Pod", running=True)
    return Plan(decision=decision(), live=live, steps=steps)


def test_a_plan_knows_which_steps_go_which_way_and_who_makes_the_pod_anew() -> None:
    plan = marked(team="green")
    assert [step.edit.path for step in plan.by("patch")] == []
    assert [step.edit.path for step in plan.by("resize")] == [CPU]
    assert [step.edit.path for step in plan.by("new pod")] == [INIT]
    assert [step.edit.path for step in marked().by("patch")] == [TEAM]
    assert plan.owner == ("Deployment", "web")
    bare = decision(subject=replace(POD, owner_name=""))
    assert replace(plan, decision=bare).owner is None


def test_our_mark_goes_when_nothing_of_the_decision_is_left() -> None:
    plan = marked()
    (off,) = unmarked(plan.live, plan.decision, plan.steps)
    assert off == Edit(path=str(PATH), before=(MARK,), after=(), verb="stamp", policy="")
    for other in (marked(team="green"), marked(written(Stamp("d2", ()))), marked("nonsense")):
        assert unmarked(other.live, other.decision, other.steps) == []


@pytest.mark.parametrize(
    ("some", "state"),
    [
        ([], "reversed"),
        (["reversed", "already"], "reversed"),
        (["reversed", "conflict"], "partly"),
        (["already", "left"], "partly"),
        (["conflict", "left"], "conflict"),
        (["left"], "observed"),
        (["refused"], "observed"),
    ],
)
def test_the_outcomes_make_the_state(some: list[str], state: str) -> None:
    outcomes = [Outcome(path=GONE, live=(), result=each) for each in some]  # type: ignore[arg-type]
    assert state_after(outcomes) == state
