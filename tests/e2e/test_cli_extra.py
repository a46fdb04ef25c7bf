"""The wheel with its extra `cli` and nothing else: the commands work, and `up` says what is missing.

The packages of the extra are copied from our own environment, so that no network is needed.
"""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode

from tests.house.test_wheel import built
from tests.house.tree import REPOSITORY

COMMAND_S = 60.0

POLICY = """
apiVersion: nemutator.io/v1alpha1
kind: MutationPolicy
metadata: {name: owners}
spec: {mode: Apply, mutations: [{labels: {set: {team: shop}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: default}
spec: {template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: a, image: b}]}}}
"""


def required(wheel: Path) -> Iterator[str]:
    """The names of the packages that the extra `cli` of *wheel* names."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    for requirement in metadata.get_all("Requires-Dist", []):
        if re.search(r"extra == ['\"]cli['\"]", requirement):
            yield re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def copy_installed(package: str, site: Path) -> None:
    distribution = importlib.metadata.distribution(package)
    needs = [one for one in distribution.requires or () if "extra ==" not in one]
    assert not needs, f"{package} needs others: copy them as well"
    for file in distribution.files or ():
        if file.parts[0] != ".." and "__pycache__" not in file.parts:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(distribution.locate_file(file)), target)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    wheel = built(REPOSITORY, folder / "dist")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (site,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for package in required(wheel):
        copy_installed(package, site)
    return folder / "venv" / "bin" / "python"


def typed(python: Path, *words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [python, "-I", "-m", "nemutator_ctl", *words],
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
    )


def test_policies_are_tried_on_manifests(python: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    done = typed(python, "policy", "test", file)
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    assert '+ metadata.labels[team]: "shop"' in done.stdout


NO_BRAIN = [
    ("topology", "-o", "yaml"),
    ("advise",),
    ("mutations",),
    ("rollback", "7f"),
    ("profile", "pid:1"),
    ("secret", "list"),
    ("link",),
]


@pytest.mark.parametrize("words", NO_BRAIN, ids=lambda words: words[0])
def test_each_command_that_asks_a_brain_gets_as_far_as_asking(
    python: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = typed(python, *words, "--data-dir", tmp_path)
    assert done.returncode == ExitCode.UNREACHABLE, done.stderr
    assert "remedy: start it with `nemutator up`" in done.stderr


def test_manifests_are_read_before_a_brain_is_asked(python: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    done = typed(python, "apply", file, "--data-dir", tmp_path)
    assert done.returncode == ExitCode.UNREACHABLE, done.stderr


@pytest.mark.parametrize(
    "words", [("doctor",), ("version",), ("help",)], ids=lambda words: words[0]
)
def test_what_asks_nobody_works(python: Path, words: tuple[str, ...]) -> None:
    done = typed(python, *words)
    assert done.returncode in (ExitCode.OK, ExitCode.FAILED), done.stderr
    assert done.stderr == ""


def test_up_says_what_is_missing_and_how_to_get_it(python: Path, tmp_path: Path) -> None:
    done = typed(python, "up", "--data-dir", tmp_path / "data")
    assert done.returncode == ExitCode.CHILD_DIED, done.stderr
    assert "are missing: " in done.stderr
    assert "uvloop" in done.stderr
    assert "remedy: pip install 'nemutator[agent,controller,cli]'" in done.stderr
    assert not (tmp_path / "data").exists(), "nothing was begun"
