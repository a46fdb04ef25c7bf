from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import EditOutcome
from nemutator_controller.journal.reversal_steps import steps_back
from nemutator_controller.journal.rollback_plans import RollbackPlan, restamped, state_after
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.paths import value_at
from nemutator_controller.mutations.stamps import PATH, Stamp, parse_stamp, written

from tests.fakes.decisions import CPU, EDITS, INIT, POD, TEAM, changed_pod, decision, edit

GONE = "metadata.labels[gone]"
MARK = written(Stamp("d1", EDITS))
TIER = edit("metadata.labels[tier]", after="web")


def marked(stamp: str = MARK, **labels: str) -> RollbackPlan:
    pod = changed_pod(**labels)
    pod["metadata"]["annotations"] = {names.MUTATION: stamp}
    live = LiveObject(subject=POD, document=pod, version="1")
    steps = steps_back([decision()], pod, "Pod", running=True)
    return RollbackPlan(decision=decision(), live=live, steps=steps)


def test_a_plan_knows_which_steps_go_which_way_and_who_makes_the_pod_anew() -> None:
    plan = marked(team="green")
    assert [step.edit.path for step in plan.by("patch")] == []
    assert [step.edit.path for step in plan.by("resize")] == [CPU]
    assert [step.edit.path for step in plan.by("new pod")] == [INIT]
    assert [step.edit.path for step in marked().by("patch")] == [TEAM]
    assert plan.owner == ("Deployment", "web")
    bare = decision(subject=replace(POD, owner_name=""))
    assert replace(plan, decision=bare).owner is None


def left_of(plan: RollbackPlan) -> Stamp | None:
    """What the stamp says afterwards."""
    [change] = restamped(plan)
    assert (change.path, change.before) == (str(PATH), value_at(plan.live.document, PATH, "Pod"))
    return parse_stamp(change.after[0]) if change.after else None


def test_our_mark_goes_when_nothing_of_us_is_left() -> None:
    plan = marked()
    [off] = restamped(plan)
    assert off == Edit(path=str(PATH), before=(MARK,), after=(), verb="stamp", policy="")
    for nobodys in (marked(written(Stamp("d2", (TIER,)))), marked("nonsense")):
        assert restamped(nobodys) == []


def test_our_mark_keeps_what_an_older_mutation_has_done() -> None:
    older = decision(0, edits=(TIER,))
    plan = replace(marked(written(Stamp("d1", (TIER, *EDITS)))), others=(older,))
    assert left_of(plan) == Stamp("d0", edits=(TIER,))
    # Without a journal, too; the stamp alone does not know whose it is.
    assert left_of(replace(plan, others=())) == Stamp("d1", edits=(TIER,))


def test_our_mark_keeps_what_a_newer_mutation_has_done() -> None:
    assert left_of(marked(written(Stamp("d2", (*EDITS, TIER))))) == Stamp("d2", edits=(TIER,))


def test_our_mark_keeps_what_somebody_else_holds_up() -> None:
    assert left_of(marked(team="green")) == Stamp("d1", edits=EDITS[:1])


def test_of_two_mutations_of_a_field_our_mark_keeps_the_older_one() -> None:
    both = edit(CPU, before="2", after="250m", verb="resources")
    older = edit(CPU, before="2", after="1", policy="older")
    plan = marked(written(Stamp("d1", (EDITS[0], both, EDITS[2]))))
    left = left_of(replace(plan, others=(decision(0, edits=(older,)),)))
    assert left == Stamp("d0", edits=(older,))
    # What was applied afresh in between has no older part.
    assert left_of(replace(plan, others=(decision(0, edits=(TIER,)),))) is None


def test_what_a_mark_had_no_room_for_is_in_the_journal() -> None:
    plan = marked(written(Stamp("d1", None)), tier="web")
    assert left_of(plan) is None
    gone = edit(GONE, after="x")
    plan = replace(plan, others=(decision(0, edits=(TIER, gone)),))
    assert left_of(plan) == Stamp("d0", edits=(TIER,))
    for other in (marked(written(Stamp("d2", None))), marked(written(Stamp("d1", None)), team="x")):
        assert restamped(other) == []


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
    outcomes = [EditOutcome(path=GONE, live=(), result=each) for each in some]  # type: ignore[arg-type]
    assert state_after(outcomes) == state
