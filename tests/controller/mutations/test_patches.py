"""A patch says the same as the edits, to the server and to us."""

import copy
from typing import Any

import pytest
from hypothesis import given
from nemutator_controller.mutations.edits import Draft, apply_edits, reversed_edits, same
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.patches import (
    PatchError,
    apply_patch,
    finished,
    guards,
    render,
)
from nemutator_controller.mutations.paths import label

from tests.controller.mutations.pods import ME, Case, Json, drafted, edit, edited
from tests.fakes.kube.patching import json_patch


@pytest.mark.slow
@given(edited())
def test_the_patch_and_the_edits_make_the_same(case: Case) -> None:
    kind, manifest, _ = case
    untouched = copy.deepcopy(manifest)
    draft = drafted(case)
    operations = render(manifest, draft.edits(), kind)
    assert same(apply_patch(manifest, operations), draft.manifest)
    # Another applier, written for the fake server, agrees with ours.
    assert same(json_patch(manifest, operations), draft.manifest)
    assert same(manifest, untouched)


@pytest.mark.slow
@given(edited())
def test_what_was_written_straight_is_the_patch_that_its_edits_would_make(case: Case) -> None:
    kind, manifest, _ = case
    draft = drafted(case)
    edits = draft.edits()
    writing = draft.straight()
    if writing is not None:
        operations, made = finished(manifest, writing, edits)
        assert operations == render(manifest, edits, kind)
        assert same(made, apply_edits(manifest, edits, kind))


@pytest.mark.parametrize("removed", [False, True])
def test_a_field_that_is_written_twice_or_removed_is_not_written_straight(*, removed: bool) -> None:
    draft = Draft({"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": {}}, "Pod")
    draft.set(label("a"), "1", ME)
    assert draft.straight() is not None
    draft.put(label("c") if removed else label("a"), () if removed else ("b",), ME)
    assert draft.straight() is None
    assert [each.path for each in draft.edits()] == (
        ["metadata.labels[a]", "metadata.labels[c]"] if removed else []
    )


@pytest.mark.slow
@given(edited())
def test_the_way_back_is_a_patch_too(case: Case) -> None:
    kind, draft = case[0], drafted(case)
    back = reversed_edits(draft.edits())
    operations = [*guards(draft.manifest, back, kind), *render(draft.manifest, back, kind)]
    expected = apply_edits(draft.manifest, back, kind)
    assert same(apply_patch(draft.manifest, operations), expected)
    assert same(json_patch(draft.manifest, operations), expected)


@pytest.mark.slow
@given(edited())
def test_what_somebody_else_has_changed_stops_a_guarded_patch(case: Case) -> None:
    kind, draft = case[0], drafted(case)
    for each in reversed_edits(draft.edits()):
        if isinstance(each.before[0], str):
            foreign = apply_edits(draft.manifest, [edit(each.path, None, "foreign!!")], kind)
            with pytest.raises(PatchError, match="test failed"):
                apply_patch(foreign, guards(draft.manifest, [each], kind))


def test_parents_come_with_what_is_inside_and_the_tests_last() -> None:
    manifest = {"metadata": {}, "spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    edits = [
        edit("metadata.labels[team/x]", None, "a"),
        edit("metadata.labels[other]", None, "b"),
        edit("containers[name=b].resources.requests.cpu", None, "1"),
        edit("initContainers[name=i]", None, {"name": "i"}),
    ]
    assert render(manifest, edits, "Pod") == [
        {"op": "add", "path": "/metadata/labels", "value": {"team/x": "a"}},
        {"op": "add", "path": "/metadata/labels/other", "value": "b"},
        {"op": "add", "path": "/spec/containers/1/resources", "value": {"requests": {"cpu": "1"}}},
        {"op": "add", "path": "/spec/initContainers", "value": [{"name": "i"}]},
        {"op": "test", "path": "/spec/containers/1/name", "value": "b"},
    ]


@pytest.mark.parametrize(("before", "op"), [(None, "add"), ("a", "replace")])
def test_a_field_that_is_null_is_added(before: Json, op: str) -> None:
    manifest = {"metadata": {"labels": {"team": before}}}
    assert render(manifest, [edit("metadata.labels[team]", before, "b")], "Pod") == [
        {"op": op, "path": "/metadata/labels/team", "value": "b"}
    ]


def test_a_new_first_item_moves_the_others_and_the_test_knows() -> None:
    manifest = {"spec": {"initContainers": [{"name": "a", "image": "x"}]}}
    edits = [
        edit("initContainers[name=a].image", "x", "y"),
        edit("initContainers[name=i]", None, {"name": "i"}),
    ]
    assert render(manifest, edits, "Pod")[-1] == {
        "op": "test",
        "path": "/spec/initContainers/1/name",
        "value": "a",
    }


def test_nothing_to_do_is_an_empty_patch() -> None:
    assert render({"metadata": {}}, [], "Pod") == []


def op(kind: str, path: Any, *value: Any) -> Operation:
    return {"op": kind, "path": path} | ({"value": value[0]} if value else {})


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (op("remove", "/a/gone"), "there is no 'gone'"),
        (op("replace", "/a/gone", 1), "there is no 'gone'"),
        (op("add", "/gone/x", 1), "there is no 'gone'"),
        (op("add", "/l/3", 1), "beyond the list"),
        (op("add", "/l/01", 1), "not an index"),
        (op("add", "/l/+1", 1), "not an index"),
        (op("add", "/l/٣", 1), "not an index"),
        (op("add", "/l/" + "9" * 5000, 1), "beyond the list"),
        (op("replace", "/l/-", 1), "not an index"),
        (op("replace", "/l/2", 1), "beyond the list"),
        (op("remove", "/l/2"), "beyond the list"),
        (op("test", "/a/b", "2"), "test failed"),
        (op("test", "/a/b", True), "test failed"),
        (op("test", "/a/gone", None), "there is no 'gone'"),
        (op("add", "/a/b/c", 1), "nothing to hold 'c'"),
        (op("add", "", 1), "expected a JSON Pointer"),
        (op("add", "a", 1), "expected a JSON Pointer"),
        (op("add", 3, 1), "expected a JSON Pointer"),
        (op("move", "/a", 1), "not one of"),
        (op("add", "/a/c"), "without 'value'"),
        ({"path": "/a"}, "without 'op'"),
    ],
)
def test_what_does_not_apply_is_an_error(operation: Operation, why: str) -> None:
    with pytest.raises(PatchError) as error:
        apply_patch({"a": {"b": 1}, "l": [1, 2]}, [operation])
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (op("add", "/a", 2), {"a": 2, "l": [1, 2]}),
        (op("add", "/l/-", 3), {"a": 1, "l": [1, 2, 3]}),
        (op("add", "/l/0", 3), {"a": 1, "l": [3, 1, 2]}),
        (op("add", "/l/2", 3), {"a": 1, "l": [1, 2, 3]}),
        (op("replace", "/l/0", 3), {"a": 1, "l": [3, 2]}),
        (op("remove", "/l/0"), {"a": 1, "l": [2]}),
        (op("remove", "/a"), {"l": [1, 2]}),
        (op("test", "/a", 1.0), {"a": 1, "l": [1, 2]}),
        (op("add", "/x~1y~0z~01", 1), {"a": 1, "l": [1, 2], "x/y~z~1": 1}),
    ],
)
def test_what_applies(operation: Operation, expected: Json) -> None:
    assert apply_patch({"a": 1, "l": [1, 2]}, [operation]) == expected
