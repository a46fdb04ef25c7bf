"""What is in the tree is in the wheel: an editable install hides what a real one lacks."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import COMPONENTS, REPOSITORY, Problem, Tree, broken, hold, planted


def problems(tree: Tree, wheel: Path) -> Iterator[Problem]:
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    packages = {module.path.parts[:2] for module in tree.modules}
    for path in tree.files:
        # A folder without a module is no package: it holds sources of what a package does hold.
        if path.parts[:2] not in packages:
            continue
        # agent/nemutator_agent/x.py is nemutator_agent/x.py there.
        if path.parts[0] in COMPONENTS and Path(*path.parts[1:]).as_posix() not in packed:
            yield Problem(path, 1, "not in the wheel: see [tool.hatch.build.targets.wheel]")
    for package in sorted({name.split("/")[0] for name in packed if ".dist-info" not in name}):
        if f"{package}/py.typed" not in packed:
            yield Problem(Path(package), 1, "has no py.typed")


def built(root: Path, target: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (wheel,) = target.glob("*.whl")
    return wheel


@pytest.mark.slow
def test_every_package_and_data_file_is_in_the_wheel(tmp_path: Path) -> None:
    wheel = built(REPOSITORY, tmp_path)
    hold(
        lambda tree: problems(tree, wheel),
        "Either name the package in [tool.hatch.build.targets.wheel], or move the file elsewhere.",
    )


@pytest.mark.slow
def test_a_package_that_is_not_packed_is_named(tmp_path: Path) -> None:
    pyproject = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "sample"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["agent/nemutator_agent"]
"""
    files = {
        "pyproject.toml": pyproject,
        "agent/nemutator_agent/__init__.py": "",
        "common/nemutator_common/__init__.py": "",
    }
    tree = planted(tmp_path / "tree", files)
    wheel = built(tree.root, tmp_path / "dist")
    lost = "not in the wheel: see [tool.hatch.build.targets.wheel]"
    assert broken(lambda tree: problems(tree, wheel), tree) == [
        f"common/nemutator_common/__init__.py:1: {lost}",
        "nemutator_agent:1: has no py.typed",
    ]
