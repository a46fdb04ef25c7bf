"""The rules of tests/conftest.py, each tried on a tiny suite that breaks it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def run(folder: Path, *, file: str, content: str, ci: bool) -> tuple[int, str]:
    tests = folder / "tests"
    (tests / file).parent.mkdir(parents=True)
    (tests / file).write_text(content)
    shutil.copy(REPOSITORY / "tests" / "conftest.py", tests)  # its plugins stay in ours
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    e2e\n    drill\n")
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(REPOSITORY)} | ({"CI": "true"} if ci else {}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.returncode, ran.stdout


def test_a_skip_says_why_where_somebody_reads_it(tmp_path: Path) -> None:
    code, said = run(tmp_path, file="e2e/test_page.py", content=SKIPPED, ci=False)
    assert code == 0
    assert "no browser here" in said
    assert "1 skipped" in said


def test_in_ci_a_skipped_test_of_a_real_part_has_failed(tmp_path: Path) -> None:
    code, said = run(tmp_path, file="e2e/test_page.py", content=SKIPPED, ci=True)
    assert code == 1
    assert "skipped, which CI does not accept: " in said
    assert "no browser here" in said


def test_in_ci_a_fast_test_may_be_skipped(tmp_path: Path) -> None:
    code, _ = run(tmp_path, file="common/test_page.py", content=SKIPPED, ci=True)
    assert code == 0


@pytest.mark.parametrize("tier", ["common", "e2e"])
def test_a_test_that_reaches_for_another_machine_fails(tmp_path: Path, tier: str) -> None:
    code, said = run(tmp_path, file=f"{tier}/test_net.py", content=REACHING, ci=False)
    assert code == 1
    assert "tests talk to this machine only" in said
