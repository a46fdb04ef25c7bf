"""Amounts are tried before they are written, and those of a container are worked out once."""

from typing import Any

import pytest
from nemutator_controller.mutations.amount_trials import (
    MOST_KNOWN,
    AmountTrial,
    KnownAmounts,
    MadeAmounts,
    Place,
)
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Json, named

CPU = Place("app", "requests", "cpu")


def draft_of(*containers: Json) -> Draft:
    return Draft({"spec": {"containers": list(containers)}}, "Pod")


def container(**resources: Any) -> Json:
    return {"name": "app", "resources": resources}


def test_what_is_tried_is_not_written() -> None:
    draft = draft_of(container(requests={"cpu": "1"}))
    trial = AmountTrial(draft)
    trial.set(CPU, "500m", "half")
    assert str(trial.found(CPU)) == "500m"
    assert str(trial.asked_for(CPU)) == "1"
    assert trial.before(CPU) == ("1",)
    assert draft.edits() == ()
    assert trial.again == set()
    trial.set(CPU, "1", "")
    assert trial.again == {CPU}


@pytest.mark.parametrize(
    ("resources", "known_by"),
    [
        ({"requests": {"cpu": "1"}}, ((("cpu", "1"),), ())),
        ({"requests": None, "limits": {}}, ((), ())),
        ({"requests": {"cpu": 1}}, None),
        ({"requests": {"cpu": "1" * 100}}, None),
        ({"limits": {str(n): "1" for n in range(9)}}, None),
    ],
)
def test_a_container_is_known_by_what_it_asks_for(resources: Json, known_by: Json) -> None:
    one = container(**resources)
    trial = AmountTrial(draft_of(one))
    assert trial.asked_in("app", one) == known_by
    # A second one of that name cannot be meant by a path.
    assert trial.asked_in("app", one) is None


def test_what_a_policy_has_written_is_not_what_the_pod_asks_for() -> None:
    one = container(requests={"cpu": "1"})
    draft = draft_of(one)
    draft.set(named("containers", "app") / "resources" / "requests" / "cpu", "2", Author("a", "b"))
    [now] = draft.manifest["spec"]["containers"]
    assert AmountTrial(draft).asked_in("app", now) is None


def test_what_is_known_is_set_as_if_it_were_worked_out() -> None:
    trial = AmountTrial(draft_of(container()))
    trial.take("app", MadeAmounts((("requests", "cpu", "2", "why"),), ()))
    assert trial.written == {CPU: ("2", "why")}


def test_what_strangers_ask_for_is_not_kept_for_ever() -> None:
    known, made = KnownAmounts(), MadeAmounts((), ())
    for number in range(MOST_KNOWN + 1):
        known.keep(((("cpu", str(number)),), ()), made)
    assert len(known.of) == 1
