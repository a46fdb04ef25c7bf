"""What containers ask for is known apart from all else, and the same fields get other texts."""

from typing import Any

import pytest
from nemutator_controller.admission.container_amounts import (
    AmountPlaces,
    container_amounts,
    shapes_of,
)
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.resources import Amount, ContainerResources, Sizing

HALF = Sizing(ContainerResources(requests={"cpu": Amount(ratio=0.5)}), "p")
PATH = "containers[name=a].resources.requests.cpu"
POINTER = "/spec/containers/0/resources/requests/cpu"
INIT = "initContainers[name=nemutator-init]"


def spec_of(*asked: Any, **of_pod: Any) -> Any:
    names = "abcdef"
    listed = [{"name": names[at], "resources": each} for at, each in enumerate(asked)]
    return {"containers": listed} | of_pod


def edit(path: str, before: Any, after: Any, verb: str = "resources") -> Edit:
    return Edit(path=path, before=before, after=after, verb=verb, policy="p")


@pytest.mark.parametrize(
    ("spec", "amounts"),
    [
        (spec_of({"requests": {"cpu": "1"}}, None), (((("cpu", "1"),), ()), ((), ()))),
        (spec_of({}, initContainers=[{"name": "i"}]), (((), ()), ((), ()))),
        (spec_of({"requests": {"cpu": 1}}), None),
        (spec_of({}, resources={"limits": {"cpu": "1"}}), None),
        ({"containers": ["a"]}, None),
        ({"containers": None}, ()),
    ],
)
def test_amounts_are_known_in_the_order_of_containers(spec: Any, amounts: Any) -> None:
    assert container_amounts(spec) == amounts


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "7"}}, True),
        ({"requests": {"cpu": "1"}}, {"limits": {"cpu": "1"}}, False),
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "0"}}, False),
        ({"requests": {"cpu": "1"}}, {"requests": {"memory": "1"}}, False),
        (
            {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
            False,
        ),
        ({"claims": [{"name": "a"}]}, {"claims": [{"name": "b"}]}, False),
    ],
)
def test_pods_of_one_shape_ask_for_the_same_with_other_numbers(
    one: Any, other: Any, are_same: bool
) -> None:
    shapes = []
    for each in (spec_of(one), spec_of(other)):
        amounts = container_amounts(each)
        assert amounts is not None
        shapes.append(shapes_of(each, amounts))
    assert (shapes[0] == shapes[1]) is are_same


def of_another(spec: Any, edits: Any, operations: Any, sizing: Sizing | None = HALF) -> Any:
    amounts = container_amounts(spec)
    assert amounts is not None
    names = [each["name"] for each in spec["containers"]]
    places = AmountPlaces.found(edits, operations, names)
    made, patch = list(edits), list(operations)
    if places is None or not places.resize(made, patch, spec, amounts, sizing, ResourceBounds()):
        return None
    return made, patch


def test_other_texts_are_written_in_the_same_places() -> None:
    label = edit("metadata.labels[a]", (), ("b",), "labels")
    edits = [label, edit(PATH, ("1",), ("500m",))]
    operations = [
        {"op": "add", "path": "/metadata/labels/a", "value": "b"},
        {"op": "replace", "path": POINTER, "value": "500m"},
        {"op": "test", "path": "/spec/containers/0/name", "value": "a"},
    ]
    made, patch = of_another(spec_of({"requests": {"cpu": "7"}}), edits, operations)
    assert made[0] == label
    assert (made[1].path, made[1].before, made[1].after) == (PATH, ("7",), ("3500m",))
    assert made[1].reason == "0.5 of 7"
    assert [each["value"] for each in patch] == ["b", "3500m", "a"]
    assert operations[1]["value"] == "500m"


@pytest.mark.parametrize(
    ("asked", "edits", "operations"),
    [
        # Nothing would be written, it would be written elsewhere, or it is not where it was expected.
        ({"requests": {"memory": "1"}}, [edit(PATH, ("1",), ("500m",))], []),
        ({"requests": {"cpu": "7"}}, [], []),
        ({"requests": {"cpu": "7"}}, [edit(PATH, (), ("500m",))], []),
        ({"requests": {"cpu": "7"}}, [edit(PATH, ("1",), ("500m",))], []),
        (
            {"requests": {"cpu": "7"}},
            [edit(PATH, ("1",), ("500m",))],
            [{"op": "replace", "path": POINTER, "value": "1"}],
        ),
        # There is nothing to ask for, as somebody has to hear.
        ({"requests": {"cpu": "0"}}, [edit(PATH, ("1",), ("500m",))], []),
    ],
)
def test_whatever_else_it_takes_is_not_known(asked: Any, edits: Any, operations: Any) -> None:
    assert of_another(spec_of(asked), edits, operations) is None


@pytest.mark.parametrize(
    ("pointer", "is_listed"), [("/spec/initContainers/0", False), ("/spec/initContainers", True)]
)
def test_the_init_container_asks_for_what_the_largest_does(pointer: str, is_listed: bool) -> None:
    ours = {"name": "nemutator-init", "args": ["a"], "resources": {"limits": {"memory": "1"}}}
    edits = [edit(INIT, (), (ours,), "containers")]
    written = [{"op": "add", "path": pointer, "value": [ours] if is_listed else ours}]
    spec = spec_of(
        {"limits": {"memory": "1Gi"}}, {"limits": {"memory": "2Gi"}, "requests": {"cpu": "1"}}
    )
    made, patch = of_another(spec, edits, written, None)
    other = ours | {"resources": {"requests": {"cpu": "1"}, "limits": {"memory": "2Gi"}}}
    assert made[0].after == (other,)
    assert patch[0]["value"] == ([other] if is_listed else other)
    assert of_another(spec, edits, [], None) is None
    made, _ = of_another(spec_of({}), edits, written, None)
    assert made[0].after == ({"name": "nemutator-init", "args": ["a"]},)
