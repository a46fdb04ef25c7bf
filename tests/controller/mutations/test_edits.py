"""Edits say what has really changed, can be applied to a copy, and can be taken back."""

import copy
from typing import Any

import pytest
from hypothesis import given
from nemutator_controller.mutations.edits import (
    MOST_EDITS,
    Author,
    Draft,
    TooLargeError,
    apply_edits,
    member_at,
    reversed_edits,
    same,
)
from nemutator_controller.mutations.paths import (
    TEMPLATES,
    FieldStep,
    ItemStep,
    Path,
    PathError,
    label,
    named,
)

from tests.controller.mutations.pods import (
    ME,
    Case,
    Json,
    drafted,
    edit,
    edited,
    pruned,
)


@pytest.mark.slow
@given(edited())
def test_edits_make_what_was_drafted_and_leave_the_original_alone(case: Case) -> None:
    kind, manifest, _ = case
    untouched = copy.deepcopy(manifest)
    draft = drafted(case)
    assert same(apply_edits(manifest, draft.edits(), kind), draft.manifest)
    assert same(manifest, untouched)


@pytest.mark.slow
@given(edited())
def test_what_is_taken_back_is_as_before(case: Case) -> None:
    kind, manifest, _ = case
    edits = drafted(case).edits()
    back = apply_edits(apply_edits(manifest, edits, kind), reversed_edits(edits), kind)
    assert same(pruned(back), pruned(manifest))


@pytest.mark.slow
@given(edited())
def test_to_do_it_again_changes_nothing(case: Case) -> None:
    kind, manifest, wanted = case
    # Each path once: of two wishes for one field the last one wins.
    last = list({path: (path, value) for path, value in wanted}.values())
    once = drafted((kind, manifest, last)).manifest
    assert drafted((kind, once, last)).edits() == ()


@pytest.mark.slow
@given(edited())
def test_what_is_not_on_the_way_is_not_copied(case: Case) -> None:
    kind, manifest, _ = case
    done = drafted(case).manifest
    for name in TEMPLATES[kind]:
        manifest, done = manifest[name], done[name]
    assert done["metadata"]["unknown"] is manifest["metadata"]["unknown"]
    assert done["spec"]["unknown"] is manifest["spec"]["unknown"]


def test_only_real_changes_are_edits() -> None:
    draft = Draft({"metadata": {"labels": {"a": "1", "b": "2"}}}, "Pod")
    draft.set(label("a"), "1", ME)
    draft.set(label("b"), "3", ME)
    draft.set(label("b"), "2", ME)
    draft.set(label("c"), "4", ME)
    draft.set(label("c"), "5", Author("labels", "other"))
    [only] = draft.edits()
    assert only.path == "metadata.labels[c]"
    assert (only.before, only.after, only.policy) == ((), ("5",), "other")


def test_an_edit_inside_of_what_was_added_is_part_of_it() -> None:
    draft = Draft({"spec": {}}, "Pod")
    volume = named("volumes", "v")
    draft.set(volume, {"name": "v"}, ME)
    draft.set(volume / FieldStep("csi") / FieldStep("driver"), "d", ME)
    [only] = draft.edits()
    assert only.path == "volumes[name=v]"
    assert only.after == ({"name": "v", "csi": {"driver": "d"}},)
    assert same(apply_edits({"spec": {}}, [only], "Pod"), draft.manifest)


def test_init_containers_of_ours_go_first_and_all_else_last() -> None:
    manifest = {"spec": {"initContainers": [{"name": "a"}], "volumes": [{"name": "a"}]}}
    draft = Draft(manifest, "Pod")
    draft.set(named("initContainers", "b"), {"name": "b"}, ME)
    draft.set(named("volumes", "b"), {"name": "b"}, ME)
    spec = draft.manifest["spec"]
    assert [each["name"] for each in spec["initContainers"]] == ["b", "a"]
    assert [each["name"] for each in spec["volumes"]] == ["a", "b"]


def test_a_removed_last_key_takes_its_map_with_it_but_no_item() -> None:
    manifest = {
        "metadata": {"labels": {"a": "1"}},
        "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]},
    }
    edits = [
        edit("metadata.labels[a]", "1", None),
        edit("containers[name=app].resources.requests.cpu", "1", None),
        edit("metadata.annotations[never]", "1", None),
    ]
    done = apply_edits(manifest, edits, "Pod")
    assert done == {"metadata": {}, "spec": {"containers": [{"name": "app"}]}}


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        ({"spec": {"containers": []}}, "containers[name=app].image"),
        ({"spec": {"containers": "x"}}, "containers[name=app].image"),
        ({"metadata": {"labels": "x"}}, "metadata.labels[a]"),
        ({"metadata": 3}, "metadata.labels[a]"),
        ([], "metadata.labels[a]"),
    ],
)
def test_what_cannot_be_written_is_an_error(manifest: Json, path: str) -> None:
    with pytest.raises(PathError):
        apply_edits(manifest, [edit(path, None, "x")], "Pod")


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        (1, True, False),
        (0, False, False),
        (None, False, False),
        (1, 1.0, True),
        ({"a": [1, {}]}, {"a": [1, {}]}, True),
        ({"a": 1}, {"a": True}, False),
        ([1], [1, 1], False),
        ({}, [], False),
        ((), [], True),
    ],
)
def test_values_are_the_same_when_json_says_so(left: Any, right: Any, alike: bool) -> None:
    assert same(left, right) is alike


def test_items_are_found_by_what_names_them() -> None:
    mounts = Path((FieldStep("containers"), ItemStep("name", "b"), FieldStep("volumeMounts")))
    draft = Draft({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}, "Pod")
    draft.set(mounts / ItemStep("mountPath", "/x"), {"name": "v", "mountPath": "/x"}, ME)
    assert draft.manifest["spec"]["containers"] == [
        {"name": "a"},
        {"name": "b", "volumeMounts": [{"name": "v", "mountPath": "/x"}]},
    ]
    assert str(mounts) == "containers[name=b].volumeMounts"


def test_a_draft_has_a_most_of_changes() -> None:
    draft, author = Draft({"metadata": {}, "spec": {}}, "Pod"), Author("labels", "a")
    for number in range(MOST_EDITS):
        draft.set(label(f"k{number}"), "v", author)
    draft.set(label("k0"), "w", author)
    with pytest.raises(TooLargeError, match="more than 1000 fields"):
        draft.set(label("another"), "v", author)


ANOTHER = Author("labels", "another")


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
@pytest.mark.parametrize("leave", [frozenset(), frozenset({"metadata.labels[a]"})])
@pytest.mark.parametrize("only_new", [False, True])
@pytest.mark.parametrize(
    "labels",
    [
        None,
        {},
        {"a": "1", "b": "2"},
        {"a": "9", "c/d": "1"},
        {"a": None, "b": 2, "c/d": ["1"]},
        {"before": "1"},
    ],
)
def test_members_are_written_as_if_each_were_set(
    labels: Json, kind: str, leave: frozenset[str], *, only_new: bool
) -> None:
    pod = {"metadata": {"name": "x"} | ({} if labels is None else {"labels": labels}), "spec": {}}
    manifest = pod if kind == "Pod" else {"spec": {"template": pod}}
    members = [member_at(label(key), "1", ME) for key in ("a", "b", "c/d", "before")]
    made = []
    for at_once in (True, False):
        draft = Draft(manifest, kind, leave=leave)
        draft.set(label("before"), "0", ANOTHER)
        if at_once:
            draft.set_members(Path(label("").steps[:-1]), members, only_new=only_new)
        for each in members if not at_once else ():
            if not (only_new and draft.value(each.path)):
                draft.set(each.path, *each.after, each.author)
        straight = draft.straight()
        made.append((draft.manifest, draft.edits(), straight and straight.operations))
    assert made[0] == made[1]


def test_members_too_have_a_most_of_changes() -> None:
    draft = Draft({"metadata": {"labels": {}}, "spec": {}}, "Pod")
    members = [member_at(label(f"k{number}"), "v", ME) for number in range(MOST_EDITS + 1)]
    with pytest.raises(TooLargeError, match="more than 1000 fields"):
        draft.set_members(Path(label("").steps[:-1]), members)
