from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.journal import documents
from nemutator_controller.journal.records import EditOutcome, Reversal
from nemutator_controller.journal.reversal_steps import steps_back
from nemutator_controller.journal.rollback_plans import RollbackPlan
from nemutator_ctl.rollback.view import anything_to_do, is_pod, is_whole, keeps, outcome, plan

from tests.fakes.decisions import NOW, POD, TEAM, changed_pod, decision
from tests.fakes.journals import MemoryObjects


def planned(**labels: str) -> Any:
    live = MemoryObjects().place(POD, changed_pod(**labels))
    steps = steps_back([decision()], live.document, "Pod", running=True)
    whole = RollbackPlan(decision=decision(), live=live, steps=steps)
    return msgspec.json.decode(msgspec.json.encode(documents.planned(whole, evict=False)))


def done(state: Any = "reversed", why: str = "") -> Any:
    outcomes = (EditOutcome(path=TEAM, live=("blue",), result="reversed", why=why),)
    one = Reversal(id="v", decision="d1", at=NOW, state=state, outcomes=outcomes)
    return msgspec.json.decode(msgspec.json.encode(documents.taken_back(one, POD)))


def test_a_plan_shows_what_each_field_is_and_will_be() -> None:
    shown = plan(planned())
    assert shown.startswith("d1: Pod team/web-1\n")
    assert '  metadata.labels[team]: is removed\n      "blue" → (absent)\n' in shown
    assert '      "250m" → "1"\n' in shown
    assert anything_to_do(planned())


def test_a_conflict_shows_both_values() -> None:
    shown = plan(planned(team="green"))
    assert "somebody else has changed it since\n" in shown
    assert '      is "green", we had set "blue"\n' in shown


def test_a_plan_without_anything_to_reverse_says_so() -> None:
    document = planned()
    document["steps"] = [{**step, "verdict": "already"} for step in document["steps"]]
    assert not anything_to_do(document)
    assert not keeps(document)


def test_a_plan_that_leaves_something_as_it_is_keeps_it() -> None:
    assert not keeps(planned())
    assert keeps(planned(team="green"))


def test_a_pod_is_named_with_its_namespace() -> None:
    assert is_pod("team/web-1")
    assert not any(map(is_pod, ("", "web-1", "/web-1", "team/", "a/b/c")))


def test_the_end_shows_each_outcome_and_the_state() -> None:
    assert outcome(done()) == (
        "d1: Pod team/web-1\n  metadata.labels[team]: reversed\n  reversed\n"
    )
    assert "reversed: because\n" in outcome(done("partly", "because"))
    assert is_whole(done())
    assert not is_whole(done("partly"))


@pytest.mark.parametrize("field", ["id", "object", "steps", "outcomes"])
def test_what_is_neither_is_not_understood(field: str) -> None:
    for show, document in ((plan, planned()), (outcome, done())):
        if field in document:
            for bad in ({**document, field: None}, {**document, field: [3]}, 3):
                if field == "id" and bad != 3:
                    continue
                with pytest.raises(OperatorError, match="not understood"):
                    show(bad)
