"""The stamp on a pod is enough to take back what was done, and is never too long."""

import pytest
from hypothesis import given
from nemutator_controller.mutations.edits import apply_edits, reversed_edits, same
from nemutator_controller.mutations.stamps import (
    LONGEST,
    Stamp,
    in_full,
    merged,
    parse_stamp,
    stamp_of,
    written,
)

from tests.controller.mutations.pods import Case, Json, drafted, edit, edited, pruned


@pytest.mark.slow
@given(edited())
def test_an_object_can_be_restored_from_its_stamp_alone(case: Case) -> None:
    kind, manifest, _ = case
    draft = drafted(case)
    stamp = parse_stamp(written(Stamp("id", draft.edits())))
    assert stamp is not None
    assert stamp.edits is not None
    back = apply_edits(draft.manifest, reversed_edits(stamp.edits), kind)
    assert same(pruned(back), pruned(manifest))


def test_what_does_not_fit_is_left_to_the_record() -> None:
    stamp = Stamp("id", (edit("metadata.annotations[a]", None, "x" * LONGEST),))
    text = written(stamp)
    assert len(text) < 100
    assert parse_stamp(text) == Stamp("id", None)
    assert in_full(stamp) is None
    assert in_full(Stamp("id", ())) == written(Stamp("id", ()))


def test_what_was_there_first_is_what_is_gone_back_to() -> None:
    first = Stamp(
        "1", (edit("metadata.labels[a]", "x", "y"), edit("metadata.labels[b]", None, "1"))
    )
    then = merged(first, "2", [edit("metadata.labels[a]", "y", "z")])
    assert then.id == "2"
    assert then.edits == (
        edit("metadata.labels[a]", "x", "z"),
        edit("metadata.labels[b]", None, "1"),
    )
    assert merged(None, "1", first.edits or ()) == first
    assert merged(Stamp("1", None), "2", []) == Stamp("2", None)


def test_what_somebody_else_has_written_in_between_is_what_is_gone_back_to() -> None:
    first = Stamp("1", (edit("metadata.labels[a]", "x", "y"),))
    then = merged(first, "2", [edit("metadata.labels[a]", "foreign", "z")])
    assert then == Stamp("2", (edit("metadata.labels[a]", "foreign", "z"),))


def test_of_a_new_object_the_first_value_is_what_is_gone_back_to() -> None:
    first = Stamp("1", (edit("metadata.labels[a]", "x", "y"),))
    then = merged(first, "2", [edit("metadata.labels[a]", "foreign", "z")], new=True)
    assert then == Stamp("2", (edit("metadata.labels[a]", "x", "z"),))


def test_only_what_is_still_ours_is_taken_off() -> None:
    manifest = {"metadata": {"labels": {"a": "ours", "b": "foreign"}}}
    stamp = Stamp(
        "1", (edit("metadata.labels[a]", "x", "ours"), edit("metadata.labels[b]", "y", "ours"))
    )
    expected = {"metadata": {"labels": {"a": "x", "b": "foreign"}}}
    assert stamp.taken_off(manifest, "Pod") == expected
    assert Stamp("1", None).taken_off(manifest, "Pod") is manifest


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        3,
        "",
        "{}",
        "[]",
        '{"id":1}',
        '{"id":"x","edits":[["a"]]}',
        '{"id":"x","edits":[["[",[],[],"",""]]}',
        '{"id":"x","edits":[["a",[1,2],[],"",""]]}',
        "x" * (LONGEST + 1),
        "[" * LONGEST,
        "\ud800",
    ],
)
def test_nonsense_says_that_something_was_done_and_not_what(nonsense: Json) -> None:
    manifest = {"metadata": {"annotations": {"nemutator.io/mutation": nonsense}}}
    assert parse_stamp(nonsense) is None
    assert stamp_of(manifest, "Pod") == Stamp("", None)


def test_an_object_without_a_stamp_has_none() -> None:
    assert stamp_of({"metadata": {}}, "Pod") is None


def test_a_stamp_is_of_what_stands_or_of_nothing() -> None:
    stamp = Stamp(
        "1", (edit("metadata.labels[a]", "x", "y"), edit("metadata.labels[b]", None, "1"))
    )
    standing = stamp.of_what_stands({"metadata": {"labels": {"a": "y", "b": "2"}}}, "Pod")
    assert standing == Stamp("1", stamp.edits[:1] if stamp.edits else None)
    assert stamp.of_what_stands({"metadata": {"labels": {"a": "x"}}}, "Pod") is None
    assert stamp.of_what_stands({"metadata": {"labels": ["a"]}}, "Pod") is None
    assert Stamp("1", None).of_what_stands({}, "Pod") is None
