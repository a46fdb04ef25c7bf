"""Pods whose containers are called otherwise get the same edits, found by the names of theirs."""

from typing import Any

import pytest
from nemutator_controller.admission.container_names import NamePlaces, container_names
from nemutator_controller.mutations.decisions import Edit

NAMES, OTHERS = ("a", "b", "metadata"), ("b", "a", "c")


def edit(path: str) -> Edit:
    return Edit(path=path, before=(), after=("a",), verb="v", policy="p", reason="a")


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ({}, ()),
        ({"containers": [{"name": "a"}], "initContainers": [{"name": "b-1"}]}, ("a", "b-1")),
        ({"containers": [{"name": "a"}], "initContainers": None}, ("a",)),
        ({"containers": [{"name": "a"}, {"name": "a"}]}, None),
        ({"containers": [{"name": "a"}], "initContainers": [{"name": "a"}]}, None),
        ({"containers": [{"name": "nemutator-init"}]}, None),
        ({"containers": [{"name": "A"}]}, None),
        ({"containers": [{"name": "a]"}]}, None),
        ({"containers": [{"name": "a" * 64}]}, None),
        ({"containers": [{"name": 1}]}, None),
        ({"containers": [None]}, None),
    ],
)
def test_each_container_has_a_name_of_its_own(spec: Any, names: Any) -> None:
    assert container_names(spec) == names


def test_edits_are_found_by_other_names() -> None:
    paths = [
        "containers[name=a].resources.requests.cpu",
        "initContainers[name=b].image",
        "initContainers[name=nemutator-init]",
        "metadata.labels[a]",
        "volumes[name=a]",
    ]
    renamed = [edit(path) for path in paths]
    NamePlaces(renamed, (), NAMES).rename(renamed, [], OTHERS)
    assert [each.path for each in renamed] == [
        "containers[name=b].resources.requests.cpu",
        "initContainers[name=a].image",
        *paths[2:],
    ]
    assert {(each.after, each.reason) for each in renamed} == {(("a",), "a")}


def test_a_patch_has_names_in_its_tests_alone() -> None:
    operations: Any = [
        {"op": "add", "path": "/spec/containers/0/name", "value": "a"},
        {"op": "test", "path": "/spec/containers/0/name", "value": "a"},
        {"op": "test", "path": "/spec/initContainers/12/name", "value": "b"},
        {"op": "test", "path": "/spec/volumes/0/name", "value": "a"},
        {"op": "test", "path": "/spec/containers/0/env/0/name", "value": "a"},
    ]
    renamed = list(operations)
    NamePlaces((), operations, NAMES).rename([], renamed, OTHERS)
    assert [each["value"] for each in renamed] == ["a", "b", "a", "a", "a"]
    assert [each["value"] for each in operations] == ["a", "a", "b", "a", "a"]
