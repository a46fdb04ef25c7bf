"""Amounts are tried before they are written, and those of a container are worked out once."""

from functools import partial
from typing import Any

import pytest
from nemutator_controller.mutations.amount_trials import (
    MOST_KNOWN,
    AmountTrial,
    KnownAmounts,
    MadeAmounts,
    Place,
    amount_path,
    written_at_once,
)
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Json, named

BY_P = partial(Author, "resources", "p")

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
        known.keep(((("cpu", str(number)),), ()), made, BY_P)
    assert len(known.of) == len(known.ready) == 1


@pytest.mark.parametrize(
    ("asked", "made", "is_ready"),
    [
        (((("cpu", "1"),), ()), MadeAmounts((("requests", "cpu", "2", "why"),), ()), True),
        (((("cpu", "1"),), ()), MadeAmounts((("limits", "cpu", "3", ""),), ()), True),
        # By these its pod would be of another class, and by that a person has to hear of what is refused.
        (((), ()), MadeAmounts((("requests", "cpu", "2", "why"),), ()), False),
        (((("cpu", "1"),), (("cpu", "2"),)), MadeAmounts((("requests", "cpu", "2", ""),), ()), False),
        (((("cpu", "1"),), ()), MadeAmounts((), (("requests", "cpu", "why"),)), False),
    ],
)  # fmt: skip
def test_what_needs_no_more_thought_is_ready(asked: Any, made: MadeAmounts, is_ready: bool) -> None:
    known = KnownAmounts()
    known.keep(asked, made, BY_P)
    assert (asked in known.ready) is is_ready


def test_what_is_ready_is_written_as_if_it_were_worked_out() -> None:
    known, written = KnownAmounts(), []
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}
    made = MadeAmounts((("limits", "cpu", "4", ""), ("requests", "cpu", "2", "why")), ())
    known.keep(((("cpu", "1"), ("memory", "1Gi")), (("cpu", "2"),)), made, BY_P)
    for at_once in (True, False):
        draft = draft_of(*({"name": name, "resources": asked} for name in ("a/b", "c", "d")))
        if at_once:
            assert written_at_once(draft, {"a/b", "d"}.__contains__, known)
        else:
            for name in ("a/b", "d"):
                for side, resource, text, reason in made.written:
                    draft.set(amount_path(name, side, resource), text, BY_P(reason))
        straight = draft.straight()
        assert straight is not None
        written.append((draft.manifest, draft.edits(), straight.operations, straight.passed_items))
    assert written[0] == written[1]


@pytest.mark.parametrize(
    "containers",
    [
        [{"name": "a", "resources": {}}, {"name": "b", "resources": {"requests": {"cpu": "2"}}}],
        [{"name": "a", "resources": {}}, {"name": "a", "resources": {}}],
        [{"name": "a", "resources": {"requests": {"cpu": 1}}}],
        [{"name": "a" * 300, "resources": {}}],
    ],
)
def test_what_is_not_ready_for_all_containers_is_written_for_none(containers: Json) -> None:
    known = KnownAmounts()
    known.keep(((), ()), MadeAmounts((("limits", "ephemeral-storage", "4", ""),), ()), BY_P)
    draft = draft_of(*containers)
    assert not written_at_once(draft, bool, known)
    assert draft.edits() == ()


def test_nothing_is_ready_where_an_amount_was_written_before() -> None:
    known = KnownAmounts()
    known.keep(((), ()), MadeAmounts((("limits", "ephemeral-storage", "4", ""),), ()), BY_P)
    draft = draft_of({"name": "a"}, {"name": "b"})
    draft.set(amount_path("a", "requests", "cpu"), "1", BY_P(""))
    assert not written_at_once(draft, "b".__eq__, known)
