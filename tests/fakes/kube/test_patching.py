"""JSON Patch by the examples of RFC 6902 appendix A, merge patch by those of RFC 7386."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.kube.patching import PatchError, json_patch, merge_patch

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/~", max_size=2),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("ab/~"), below, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("document", "operation", "result"),
    [
        ({"foo": "bar"}, ("add", "/baz", "qux"), {"foo": "bar", "baz": "qux"}),
        ({"foo": ["bar", "baz"]}, ("add", "/foo/1", "qux"), {"foo": ["bar", "qux", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, ("remove", "/baz", None), {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, ("remove", "/foo/1", None), {"foo": ["bar", "baz"]}),
        ({"baz": "qux", "foo": 1}, ("replace", "/baz", "boo"), {"baz": "boo", "foo": 1}),
        ({"foo": ["bar"]}, ("add", "/foo/-", ["abc"]), {"foo": ["bar", ["abc"]]}),
        ({"/": 9, "~1": 10}, ("test", "/~01", 10), {"/": 9, "~1": 10}),
        ({"foo": "bar"}, ("add", "", {"new": 1}), {"new": 1}),
        ({"foo": None}, ("test", "/foo", None), {"foo": None}),
    ],
)
def test_an_operation_gives(document: Any, operation: tuple[str, str, Any], result: Any) -> None:
    op, path, value = operation
    assert json_patch(document, [{"op": op, "path": path, "value": value}]) == result


def test_move_and_copy() -> None:
    document = {"foo": {"bar": "baz"}, "qux": {"a": 1}}
    moved = json_patch(document, [{"op": "move", "from": "/foo/bar", "path": "/qux/thud"}])
    assert moved == {"foo": {}, "qux": {"a": 1, "thud": "baz"}}
    copied = json_patch(document, [{"op": "copy", "from": "/foo", "path": "/qux/b"}])
    assert copied == {"foo": {"bar": "baz"}, "qux": {"a": 1, "b": {"bar": "baz"}}}


@pytest.mark.parametrize(
    ("document", "operation"),
    [
        ({"baz": "qux"}, {"op": "test", "path": "/baz", "value": "bar"}),
        ({"a": 1}, {"op": "test", "path": "/a", "value": True}),
        ({"foo": "bar"}, {"op": "add", "path": "/baz/bat", "value": "qux"}),
        ({"foo": "bar"}, {"op": "remove", "path": "/baz"}),
        ({"foo": ["bar"]}, {"op": "replace", "path": "/foo/1", "value": 1}),
        ({"foo": "bar"}, {"op": "replace", "path": "/baz/bat", "value": 1}),
        ({"foo": "bar"}, {"op": "test", "path": "/baz", "value": 1}),
        ({"foo": ["bar"]}, {"op": "add", "path": "/foo/2", "value": 1}),
        ({"foo": ["bar"]}, {"op": "remove", "path": "/foo/-1"}),
        ({"foo": 1}, {"op": "add", "path": "foo", "value": 1}),
        ({"foo": 1}, {"op": "grow", "path": "/foo"}),
        ({"foo": 1}, "nonsense"),
    ],
)
def test_an_operation_that_does_not_apply_is_refused(document: Any, operation: Any) -> None:
    with pytest.raises(PatchError):
        json_patch(document, [operation])


def test_what_is_not_there_can_be_replaced_and_is_null_as_for_the_servers_library() -> None:
    assert json_patch({}, [{"op": "replace", "path": "/a", "value": 1}]) == {"a": 1}
    assert json_patch({}, [{"op": "test", "path": "/a", "value": None}]) == {}


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_gives(document: Any, patch: Any, result: Any) -> None:
    assert merge_patch(document, patch) == result


@given(documents, documents)
def test_patches_leave_what_they_are_given_alone(document: Any, other: Any) -> None:
    before = repr((document, other))
    merge_patch(document, other)
    json_patch(document, [{"op": "add", "path": "", "value": other}])
    assert repr((document, other)) == before


@given(documents, documents)
def test_merging_a_patch_twice_is_merging_it_once(document: Any, patch: Any) -> None:
    once = merge_patch(document, patch)
    assert merge_patch(once, patch) == once
