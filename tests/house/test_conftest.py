"""The rules of tests/conftest.py, each tried on a tiny suite that breaks it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest

from tests.house.tree import REPOSITORY

SKIPPED = """
import pytest

def test_it() -> None:
    pytest.skip("no browser here")
"""

REACHING = """
import contextlib
import socket

def test_it() -> None:
    with socket.socket() as caller, contextlib.suppress(OSError):
        caller.connect(("192.0.2.1", 9))
"""

PROPERTY = """
from hypothesis import given
from hypothesis import strategies as st

@given(st.text())
def test_it(text: str) -> None:
    assert text == str(text)
"""

FILES = {
    "e2e/test_page.py": SKIPPED,
    "e2e/test_net.py": REACHING,
    "common/test_small_page.py": SKIPPED,
    "common/test_small_net.py": REACHING,
    "common/test_small_property.py": PROPERTY,
}


class Ran(NamedTuple):
    outcomes: dict[str, str]
    """What became of each file: each has one test."""
    said: str


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("here"), ci=False)


@pytest.fixture(scope="module")
def in_ci(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("ci"), ci=True)


def run(folder: Path, *, ci: bool) -> Ran:
    tests = folder / "tests"
    for file, content in FILES.items():
        (tests / file).parent.mkdir(parents=True, exist_ok=True)
        (tests / file).write_text(content)
    shutil.copy(REPOSITORY / "tests" / "conftest.py", tests)  # its plugins stay in ours
    (folder / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    e2e\n    drill\n"
        "filterwarnings =\n    error::hypothesis.errors.HypothesisWarning\n"
    )
    # In its place Hypothesis cannot keep examples, as on a disk that is not to be written to.
    (folder / ".hypothesis").mkdir()
    (folder / ".hypothesis" / "examples").touch()
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    alone = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "--no-header", "-rfs", *alone, "tests"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(REPOSITORY)} | ({"CI": "true"} if ci else {}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    outcomes = dict(re.findall(r"^tests/(\S+)::test_it (\w+)", ran.stdout, re.MULTILINE))
    assert outcomes.keys() == FILES.keys(), ran.stdout + ran.stderr
    return Ran(outcomes, ran.stdout)


def test_a_skip_says_why_where_somebody_reads_it(here: Ran) -> None:
    assert here.outcomes["e2e/test_page.py"] == "SKIPPED"
    assert re.search(r"SKIPPED .*e2e/test_page.py:\d+: no browser here", here.said)


def test_in_ci_a_skipped_test_of_a_real_part_has_failed(in_ci: Ran) -> None:
    assert in_ci.outcomes["e2e/test_page.py"] == "FAILED"
    assert "skipped, which CI does not accept: " in in_ci.said
    assert "no browser here" in in_ci.said


def test_in_ci_a_fast_test_may_be_skipped(in_ci: Ran) -> None:
    assert in_ci.outcomes["common/test_small_page.py"] == "SKIPPED"


@pytest.mark.parametrize("file", ["common/test_small_net.py", "e2e/test_net.py"])
def test_a_test_that_reaches_for_another_machine_fails(here: Ran, file: str) -> None:
    assert here.outcomes[file] == "FAILED"
    assert "tests talk to this machine only" in here.said


def test_no_property_fails_because_the_machine_is_busy() -> None:
    assert hypothesis.settings().deadline is None
    assert hypothesis.HealthCheck.too_slow in hypothesis.settings().suppress_health_check


def test_properties_hold_where_no_example_can_be_kept(here: Ran) -> None:
    assert here.outcomes["common/test_small_property.py"] == "PASSED", here.said
