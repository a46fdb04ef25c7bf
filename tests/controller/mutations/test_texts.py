"""What may stand in a map of labels or annotations, and how it gets there."""

import pytest
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import label
from nemutator_controller.mutations.texts import (
    LONGEST_ANNOTATION,
    MOST,
    Texts,
    faults,
    setters_of,
    write,
)


def test_set_wins_and_add_fills_gaps() -> None:
    draft = Draft({"metadata": {"labels": {"a": "1", "b": "2"}}}, "Pod")
    texts = Texts(set={"a": "9"}, add={"b": "9", "c": "9"})
    write(draft, setters_of(texts, label, Author("labels", "p")))
    assert draft.manifest["metadata"]["labels"] == {"a": "9", "b": "2", "c": "9"}
    assert [edit.path for edit in draft.edits()] == ["metadata.labels[a]", "metadata.labels[c]"]


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        (Texts(), "set: name at least one key"),
        (Texts(set={str(n): "" for n in range(MOST + 1)}), f"set: more than {MOST} keys"),
        (Texts(set={"nemutator.io/inject": "enabled"}), "set[nemutator.io/inject]: words of"),
        (Texts(add={"a b": "x"}), "add[a b]: expected a label's key and value"),
        (Texts(add={"a": "x y"}), "add[a]: expected a label's key and value"),
        (Texts(add={"a,b": "x"}), "add[a,b]: expected a label's key and value"),
        (Texts(add={"a": "x,c=d"}), "add[a]: expected a label's key and value"),
        (Texts(set={"a": "1"}, remove=("a",)), "remove: a is set or added, too"),
        (Texts(remove=("a b",)), "remove[a b]: expected a label's key and value"),
        (Texts(remove=("nemutator.io/skip",)), "remove[nemutator.io/skip]: words of"),
        (Texts(add={"a": "x" * 64}), "add[a]: expected a label's key and value"),
    ],
)
def test_what_the_server_would_refuse_in_a_label_is_named(texts: Texts, fault: str) -> None:
    assert any(each.startswith(fault) for each in faults(texts, labels=True))


def test_what_is_removed_is_gone_and_what_is_not_there_is_no_edit() -> None:
    draft = Draft({"metadata": {"labels": {"a": "1"}}}, "Pod")
    write(draft, setters_of(Texts(remove=("a", "b")), label, Author("labels", "p")))
    assert draft.manifest == {"metadata": {}}
    assert [edit.path for edit in draft.edits()] == ["metadata.labels[a]"]


def test_labels_that_are_fine_have_no_faults() -> None:
    texts = Texts(set={"example.org/team": "a-b.c", "empty": "", "in": "in"})
    assert list(faults(texts, labels=True)) == []


def test_an_annotation_may_say_anything_that_is_not_too_long() -> None:
    assert list(faults(Texts(set={"a": "x y, ü\n"}), labels=False)) == []
    long = Texts(set={"a": "x" * (LONGEST_ANNOTATION + 1)})
    assert list(faults(long, labels=False)) == [
        f"set[a]: longer than {LONGEST_ANNOTATION} characters"
    ]
