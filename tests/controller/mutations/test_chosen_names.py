"""A name is set, or added where nothing stands; nothing may be what the server writes for it."""

import pytest
from nemutator_controller.mutations.chosen_names import ChosenName, faults, write
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import field_path

PATH = field_path("schedulerName")


@pytest.mark.parametrize(
    ("before", "chosen", "after"),
    [
        ("a", ChosenName(set="b"), "b"),
        ("a", ChosenName(add="b"), "a"),
        (None, ChosenName(add="b"), "b"),
        ("", ChosenName(add="b"), "b"),
        ("usual", ChosenName(add="b"), "b"),
    ],
)
def test_a_name_is_set_or_added(before: str | None, chosen: ChosenName, after: str) -> None:
    draft = Draft({"spec": {"schedulerName": before}}, "Pod")
    write(draft, PATH, chosen, Author("schedulerName", "p"), nothing="usual")
    assert draft.value(PATH) == (after,)


@pytest.mark.parametrize(
    ("chosen", "fault"),
    [
        (ChosenName(), "set: expected exactly one of set, add"),
        (ChosenName(set="a", add="b"), "set: expected exactly one of set, add"),
        (ChosenName(set="A"), "set: 'A': expected small letters, digits, dots and dashes"),
        (ChosenName(add="a\n"), "add: 'a\\n': expected small letters, digits, dots and dashes"),
    ],
)
def test_what_is_no_name_is_named(chosen: ChosenName, fault: str) -> None:
    assert list(faults(chosen)) == [fault]
