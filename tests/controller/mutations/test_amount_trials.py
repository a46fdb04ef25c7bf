"""Amounts are tried before they are written, and those of a container are worked out once."""

from functools import partial
from typing import Any

import pytest
from nemutator_controller.mutations.amount_trials import (
    AmountTrial,
    ContainerTrial,
    MadeAmounts,
    Place,
    Ready,
    Texts,
    amount_path,
    asked_in,
    ready_made,
    written_at_once,
)
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import Json

BY_P = partial(Author, "resources", "p")

CPU = Place("app", "requests", "cpu")

NOTHING: Texts = (), ()
STORAGE = {
    NOTHING: ready_made(NOTHING, MadeAmounts((("limits", "ephemeral-storage", "4", ""),), ()), BY_P)
}.get


def anything(_: object) -> bool:
    return True


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
    assert asked_in(container(**resources)) == known_by


def test_what_is_no_map_asks_for_nothing_that_is_known() -> None:
    assert asked_in({"name": "app", "resources": ["cpu"]}) is None


def test_one_container_is_tried_like_one_of_a_draft() -> None:
    trial = ContainerTrial(((("cpu", "1"),), ()))
    assert str(trial.asked_for(CPU)) == "1"
    assert trial.found(CPU.beside) is None
    trial.set(CPU, "500m", "half")
    assert trial.written == {CPU: ("500m", "half")}


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
    assert (ready_made(asked, made, BY_P) is not None) is is_ready


def test_what_is_ready_is_written_as_if_it_were_worked_out() -> None:
    written = []
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}
    made = MadeAmounts((("limits", "cpu", "4", ""), ("requests", "cpu", "2", "why")), ())
    key = (("cpu", "1"), ("memory", "1Gi")), (("cpu", "2"),)
    of: dict[Texts, Ready | None] = {key: ready_made(key, made, BY_P)}
    for at_once in (True, False):
        draft = draft_of(*({"name": name, "resources": asked} for name in ("a/b", "c", "d")))
        if at_once:
            assert written_at_once(draft, {"a/b", "d"}.__contains__, of.get, anything)
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
    draft = draft_of(*containers)
    assert not written_at_once(draft, bool, STORAGE, anything)
    assert draft.edits() == ()


def test_nothing_is_ready_where_an_amount_was_written_before() -> None:
    draft = draft_of({"name": "a"}, {"name": "b"})
    draft.set(amount_path("a", "requests", "cpu"), "1", BY_P(""))
    assert not written_at_once(draft, "b".__eq__, STORAGE, anything)


def test_what_may_not_be_is_written_for_none() -> None:
    draft, found = draft_of({"name": "a"}), []

    def may_not_be(made: Any) -> bool:
        found.extend(made)
        return False

    assert not written_at_once(draft, bool, STORAGE, may_not_be)
    assert (draft.edits(), found) == ((), ["a"])
