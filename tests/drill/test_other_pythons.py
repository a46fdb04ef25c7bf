"""The fast suite in systems whose Python is another one than this machine's."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.testbed.building import pythons
from tests.testbed.fixtures import skipped_when_missing

WITHIN_S = 4 * 3600
"""On two idle cores it takes 4 minutes."""


@pytest.mark.timeout(WITHIN_S)
@pytest.mark.parametrize("version", pythons.RELEASES)
def test_the_fast_suite_passes(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled(), skipped_when_missing():
        root = pythons.make(version, print)
    pythons.checkout(tmp_path)
    ran = subprocess.run(
        pythons.inside(root, tmp_path, "make", "test"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
    (counted,) = re.findall(r"^=+ (\d+ passed.*?) =+$", ran.stdout, re.MULTILINE)
    with capsys.disabled():
        print(f"\nPython {version}: {counted}")
