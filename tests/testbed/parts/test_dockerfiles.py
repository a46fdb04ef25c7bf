"""An image is built again when anything that it is made of has changed, and only then."""

from pathlib import Path

import pytest

from tests.testbed.building.recipes import Recipe
from tests.testbed.parts.dockerfiles import MOST_BUILDS, builds_on, recipe_of

TAG = "docker.io/library/app:1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "context").mkdir()
    (tmp_path / "context" / "app.py").write_text("app")
    (tmp_path / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
    return tmp_path


def recipe(folder: Path, *, tag: str = TAG, base: str = "base-1") -> Recipe:
    return recipe_of(folder / "context", folder / "Dockerfile", tag, base=base)


def test_the_same_inputs_are_the_same_image(folder: Path) -> None:
    assert recipe(folder).folder == recipe(folder).folder


def test_every_input_counts(folder: Path) -> None:
    seen = {recipe(folder).folder, recipe(folder, base="base-2").folder}
    seen.add(recipe(folder, tag="docker.io/library/app:2").folder)
    (folder / "Dockerfile").write_text("FROM debian:bookworm-slim\nRUN true\n")
    seen.add(recipe(folder).folder)
    (folder / "context" / "app.py").write_text("another")
    seen.add(recipe(folder).folder)
    assert len(seen) == 5


def test_another_content_takes_the_place_of_the_one_before_and_another_tag_does_not(
    folder: Path,
) -> None:
    before = recipe(folder)
    (folder / "context" / "app.py").write_text("another")
    assert recipe(folder).part == before.part
    assert recipe(folder, tag="docker.io/library/app:2").part != before.part


@pytest.mark.parametrize("tag", [TAG, "localhost/Ä/" + "x" * 300, "a/../../b", "::"])
def test_a_tag_becomes_part_of_one_name_in_the_cache(folder: Path, tag: str) -> None:
    name = recipe(folder, tag=tag).folder
    assert Path(name).name == name
    assert len(name) < 100


@pytest.mark.parametrize(
    ("state", "builds"),
    [
        ("", 0),
        ("7 base-1", 7),
        ("7 base-2", 0),
        (f"{MOST_BUILDS} base-1", 0),
    ],
)
def test_layers_are_used_again_on_the_same_base_for_a_while(state: str, builds: int) -> None:
    assert builds_on(state, "base-1") == builds
