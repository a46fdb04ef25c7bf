"""Secrets of registries are added and removed by their names."""

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.image_pull_secrets import PullSecrets, apply, faults


def test_names_are_added_once_and_removed() -> None:
    draft = Draft({"spec": {"imagePullSecrets": [{"name": "old"}, {"name": "a"}]}}, "Pod")
    apply(draft, PullSecrets(add=("a", "b"), remove=("old", "none")), policy="p")
    assert draft.manifest["spec"]["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]
    paths = [edit.path for edit in draft.edits()]
    assert paths == ["imagePullSecrets[name=old]", "imagePullSecrets[name=b]"]


def test_one_that_stands_there_twice_is_named_and_stays() -> None:
    listed = [{"name": "old"}, {"name": "a"}, {"name": "old"}]
    draft = Draft({"spec": {"imagePullSecrets": listed}}, "Pod")
    warnings = apply(draft, PullSecrets(remove=("old", "a")), policy="p")
    assert draft.manifest["spec"]["imagePullSecrets"] == [{"name": "old"}, {"name": "old"}]
    why = "left alone: it stands there twice"
    assert warnings == [f"policy p: imagePullSecrets[name=old]: {why}"]


@pytest.mark.parametrize(
    ("secrets", "fault"),
    [
        (PullSecrets(), "add: name at least one here or in remove"),
        (PullSecrets(add=("A",)), "add[0]: expected small letters"),
        (PullSecrets(add=("a",), remove=("a",)), "remove: the same name is added, too"),
    ],
)
def test_what_cannot_work_is_named(secrets: PullSecrets, fault: str) -> None:
    assert [each.startswith(fault) for each in faults(secrets)] == [True]
