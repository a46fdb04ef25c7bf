from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.journal import documents
from nemutator_controller.journal.records import EditOutcome, Reversal
from nemutator_controller.journal.reversal_steps import steps_back
from nemutator_controller.journal.rollback_plans import RollbackPlan
from nemutator_ctl.rollback.view import (
    decode_plan,
    decode_rollback,
    is_pod,
    plan_view,
    rollback_view,
)

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
    shown = plan_view(decode_plan(planned()))
    assert shown.startswith("d1: Pod team/web-1\n")
    assert '  metadata.labels[team]: is removed\n      "blue" → (absent)\n' in shown
    assert '      "250m" → "1"\n' in shown
    assert decode_plan(planned()).does_something


def test_a_conflict_shows_both_values() -> None:
    shown = plan_view(decode_plan(planned(team="green")))
    assert "somebody else has changed it since\n" in shown
    assert '      is "green", we had set "blue"\n' in shown


def test_a_plan_without_anything_to_reverse_says_so() -> None:
    document = planned()
    document["steps"] = [{**step, "verdict": "already"} for step in document["steps"]]
    assert not decode_plan(document).does_something
    assert not decode_plan(document).keeps_something


def test_a_plan_that_leaves_something_as_it_is_keeps_it() -> None:
    assert not decode_plan(planned()).keeps_something
    assert decode_plan(planned(team="green")).keeps_something


def test_a_pod_is_named_with_its_namespace() -> None:
    assert is_pod("team/web-1")
    assert not any(map(is_pod, ("", "web-1", "/web-1", "team/", "a/b/c")))


def test_the_end_shows_each_outcome_and_the_state() -> None:
    assert rollback_view(decode_rollback(done())) == (
        "d1: Pod team/web-1\n  metadata.labels[team]: reversed\n  reversed\n"
    )
    assert "reversed: because\n" in rollback_view(decode_rollback(done("partly", "because")))
    assert decode_rollback(done()).is_whole
    assert not decode_rollback(done("partly")).is_whole


@pytest.mark.parametrize("field", ["id", "object", "steps", "outcomes"])
def test_what_is_neither_is_not_understood(field: str) -> None:
    for decode, document in ((decode_plan, planned()), (decode_rollback, done())):
        if field in document:
            for bad in ({**document, field: None}, {**document, field: [3]}, 3):
                with pytest.raises(OperatorError, match="not understood"):
                    decode(bad)
