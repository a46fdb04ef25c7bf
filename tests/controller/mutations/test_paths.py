"""Paths name the same field whatever the order of lists, and are read as they are written."""

import pytest
from hypothesis import given
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import (
    LONGEST_ITEM,
    LONGEST_NAME,
    Path,
    PathError,
    field_path,
    label,
    named,
    pointer_to,
    value_at,
    whole,
)

from tests.controller.mutations.pods import Json, edited, keys

POD = {
    "metadata": {"labels": {"team": "a", "x/y~z": "b"}},
    "spec": {
        "containers": [
            {"name": "side"},
            {"name": "app", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "2"}}},
        ],
        "volumes": None,
    },
}


@given(keys)
def test_any_key_of_people_fits(key: str) -> None:
    manifest = {"metadata": {"labels": {key: "value"}}}
    assert value_at(manifest, parse_path(str(label(key))), "Pod") == ("value",)


@pytest.mark.parametrize(
    ("text", "found", "pointer"),
    [
        ("metadata.labels[team]", ("a",), "/metadata/labels/team"),
        ("metadata.labels[x/y~z]", ("b",), "/metadata/labels/x~1y~0z"),
        (
            "containers[name=app].resources.requests.cpu",
            ("1",),
            "/spec/containers/1/resources/requests/cpu",
        ),
        (
            "containers[name=app].resources.requests[nvidia.com/gpu]",
            ("2",),
            "/spec/containers/1/resources/requests/nvidia.com~1gpu",
        ),
        ("containers[name=gone].image", (), None),
        ("volumes[name=nemutator]", (), None),
        ("volumes", (None,), "/spec/volumes"),
        ("metadata.annotations[a]", (), None),
    ],
)
def test_a_path_finds_its_value_and_where_it_is(
    text: str, found: tuple[Json, ...], pointer: str | None
) -> None:
    assert value_at(POD, parse_path(text), "Pod") == found
    assert pointer_to(POD, parse_path(text), "Pod") == pointer


@pytest.mark.parametrize(
    ("kind", "root"),
    [
        ("Pod", "spec"),
        ("Deployment", "spec.template.spec"),
        ("Job", "spec.template.spec"),
        ("CronJob", "spec.jobTemplate.spec.template.spec"),
    ],
)
def test_a_path_begins_at_the_pod_that_an_object_makes(kind: str, root: str) -> None:
    manifest: Json = POD
    for name in reversed(root.split(".")[:-1]):
        manifest = {name: manifest}
    assert value_at(manifest, label("team"), kind) == ("a",)
    at = "/" + root.replace(".", "/")
    path = parse_path("containers[name=side]")
    assert pointer_to(manifest, path, kind) == f"{at}/containers/0"


def test_a_kind_without_a_pod_is_named() -> None:
    with pytest.raises(PathError, match="ConfigMap: expected one of Pod, Deployment"):
        value_at(POD, label("team"), "ConfigMap")


@pytest.mark.parametrize("broken", ["text", 3, True, ["list"], 1.5])
def test_an_object_of_another_shape_is_said_to_be_one(broken: Json) -> None:
    with pytest.raises(PathError, match="expected an object around it"):
        value_at({"metadata": broken}, label("a"), "Pod")


def test_a_list_that_is_none_is_said_to_be_one() -> None:
    with pytest.raises(PathError, match="expected a list around it, found"):
        value_at({"spec": {"containers": "x"}}, named("containers", "app"), "Pod")


def test_items_that_are_no_objects_are_passed_over() -> None:
    manifest = {"spec": {"containers": [None, "app", {"name": 3}, {"name": "app"}]}}
    assert pointer_to(manifest, named("containers", "app"), "Pod") == "/spec/containers/3"


@pytest.mark.slow
@given(edited())
def test_a_pointer_is_there_when_a_value_is(
    case: tuple[str, Json, list[tuple[Path, Json]]],
) -> None:
    kind, manifest, wanted = case
    for path, _ in wanted:
        assert (pointer_to(manifest, path, kind) is None) == (value_at(manifest, path, kind) == ())


def test_a_name_that_nothing_can_have_is_no_path() -> None:
    named("containers", "x" * LONGEST_NAME)
    with pytest.raises(PathError, match="longer than 253"):
        named("containers", "x" * (LONGEST_NAME + 1))


def test_an_item_without_a_name_is_told_by_all_of_it() -> None:
    manifest = {"spec": {"tolerations": [{"key": "a"}, {"seconds": 1}, {"seconds": True}]}}
    path = whole(field_path("tolerations"), {"seconds": True})
    assert str(path) == 'tolerations[={"seconds":true}]'
    # In Python 1 is true; in JSON it is not.
    assert pointer_to(manifest, path, "Pod") == "/spec/tolerations/2"
    with pytest.raises(PathError, match=f"longer than {LONGEST_ITEM}"):
        whole(field_path("tolerations"), {"key": "x" * LONGEST_ITEM})
