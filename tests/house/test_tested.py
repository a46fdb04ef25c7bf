"""In CI a few tests that failed are tried once more, and said by name; a defect fails all the same."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "tested"
# Tests that fail the first time, or at every time.
TESTS = """
import pathlib
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_once(number):
    mark = pathlib.Path(f"mark{{number}}")
    passes = mark.exists() and {mends}
    mark.touch()
    assert passes
"""


def outcome(folder: Path, tests: str, ci: str = "true") -> tuple[int, list[str]]:
    """The exit code, and what each try came to."""
    (folder / "test_some.py").write_text(tests)
    pytest_alone = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir=."]
    done = subprocess.run(
        [SCRIPT, "some", *pytest_alone],
        cwd=folder,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, re.findall(r"^(\d+ \w+) in ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("count", "mends", "expected"),
    [
        (5, True, (0, ["5 failed", "5 passed"])),
        (5, False, (1, ["5 failed", "5 failed"])),
        (6, True, (1, ["6 failed"])),
    ],
)
def test_few_failures_have_a_second_try(
    tmp_path: Path, count: int, *, mends: bool, expected: tuple[int, list[str]]
) -> None:
    assert outcome(tmp_path, TESTS.format(count=count, mends=mends)) == expected


def test_outside_ci_a_failure_is_one_at_once(tmp_path: Path) -> None:
    assert outcome(tmp_path, TESTS.format(count=1, mends=True), ci="") == (1, ["1 failed"])


def test_what_is_no_failure_of_a_test_is_not_tried_again(tmp_path: Path) -> None:
    assert outcome(tmp_path, "import no_such_module") == (2, ["1 error"])
