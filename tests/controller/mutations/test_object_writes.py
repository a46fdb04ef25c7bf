"""Many writes do what each would do alone, and note the items through which they went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.edits import same
from nemutator_controller.mutations.object_writes import Writing
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.paths import (
    ItemStep,
    Path,
    PathError,
    Step,
    field_path,
    label,
    named,
    pointer_along,
    steps_in,
    value_at,
)

from tests.controller.mutations.pods import Json, edited, manifests
from tests.fakes.kube.patching import json_patch

REQUESTS = named("containers", "app") / "resources" / "requests"
OVERLAPPING = [
    label("a"),
    label("b"),
    field_path("metadata", "labels"),
    REQUESTS,
    REQUESTS / "cpu",
    REQUESTS / "memory",
    named("containers", "app") / "resources",
    named("containers", "app") / "env" / ItemStep("name", "A"),
    named("containers", "app") / "env" / ItemStep("name", "A") / "value",
    named("initContainers", "a"),
    named("initContainers", "b"),
    named("initContainers", "b") / "image",
    named("volumes", "v"),
    field_path("priority"),
    field_path("priorityClassName"),
]
VALUES: dict[str, Json] = {
    "metadata.labels": {"b": "1", "c": "2"},
    "containers[name=app].resources": {"requests": {"cpu": "1"}},
    "containers[name=app].resources.requests": {"cpu": "1", "memory": "2"},
}


@given(
    manifests(),
    st.lists(
        st.tuples(st.sampled_from(OVERLAPPING), st.sampled_from("xy") | st.none()), max_size=9
    ),
)
def test_each_write_does_what_it_would_do_alone(
    case: tuple[str, Json], writes: list[tuple[Path, str | None]]
) -> None:
    kind, manifest = case
    together, alone = Writing(manifest, kind), manifest
    operations: list[Json] = []
    for path, text in writes:
        value = () if text is None else (_fitting(path, text),)
        single = Writing(alone, kind)
        assert same(together.value(path), value_at(alone, path, kind))
        try:
            single.write(path, value)
        except PathError:
            with pytest.raises(PathError):
                together.write(path, value)
            break
        together.write(path, value)
        alone = single.manifest
        operations += single.operations
        assert same(together.manifest, alone)
    assert same(together.operations, operations)
    assert same(json_patch(manifest, operations), alone)
    assert same(apply_patch(manifest, operations), alone)


def _fitting(path: Path, text: str) -> Json:
    last = path.steps[-1]
    if isinstance(last, ItemStep):
        return {last.by: last.value, "image": text}
    return VALUES.get(str(path), text)


def _items_on_the_way(manifest: Json, kind: str, paths: list[Path]) -> list[tuple[Step, ...]]:
    """Of each way the items that *manifest* has, from the outside, up to the first that it lacks."""
    found: dict[tuple[Step, ...], None] = {}
    for path in paths:
        steps = steps_in(kind, path)
        for at, step in enumerate(steps, 1):
            if not isinstance(step, ItemStep):
                continue
            if pointer_along(manifest, steps[:at]) is None:
                break
            found[steps[:at]] = None
    return list(found)


@given(edited())
def test_items_of_the_original_are_noted_where_they_are_at_the_end(
    case: tuple[str, Json, list[tuple[Path, Json]]],
) -> None:
    kind, manifest, wanted = case
    writing = Writing(manifest, kind)
    for path, value in wanted:
        writing.write(path, (value,))
    passed = writing.passed_items
    if passed is not None:
        assert list(passed) == _items_on_the_way(manifest, kind, [path for path, _ in wanted])
        for steps, pointer in passed.items():
            assert pointer_along(writing.manifest, steps) == pointer


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (named("containers", "app") / "image", ()),
        (named("initContainers", "new"), ({"name": "new"},)),
        (field_path("volumes"), ([],)),
    ],
)
def test_where_items_may_have_moved_nothing_is_said_of_them(
    path: Path, value: tuple[Json, ...]
) -> None:
    spec = {name: [{"name": "app"}] for name in ("containers", "initContainers", "volumes")}
    writing = Writing({"spec": spec}, "Pod")
    writing.write(named("containers", "app") / "command", (["/app"],))
    assert writing.passed_items
    writing.write(path, value)
    assert writing.passed_items is None


def test_an_item_that_was_added_is_none_of_the_original() -> None:
    writing = Writing({"spec": {"containers": [{"name": "app"}]}}, "Pod")
    variable = named("containers", "app") / "env" / ItemStep("name", "A")
    writing.write(variable, ({"name": "A"},))
    writing.write(variable / "value", ("1",))
    writing.write(named("volumes", "v"), ({"name": "v"},))
    writing.write(named("volumes", "v") / "emptyDir", ({},))
    assert list((writing.passed_items or {}).values()) == ["/spec/containers/0"]


def test_a_volume_stays_an_empty_directory_without_its_last_member() -> None:
    volume = {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}
    writing = Writing({"kind": "Pod", "spec": {"volumes": [volume]}}, "Pod")
    writing.write(named("volumes", "tmp") / "emptyDir" / "sizeLimit", ())
    assert writing.manifest["spec"]["volumes"] == [{"name": "tmp", "emptyDir": {}}]
    assert volume == {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}, "it writes into copies"
