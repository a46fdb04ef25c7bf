"""A pid that is used again is nobody's identity: shown with a number that really was."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.house.tree import REPOSITORY


def test_whoever_has_a_callers_number_after_it_is_refused() -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a pid namespace, where numbers can be chosen, takes root and unshare")
    folders = [REPOSITORY / "agent", REPOSITORY / "common", REPOSITORY]
    ran = subprocess.run(
        [
            *("unshare", "--pid", "--fork", "--mount-proc"),
            *(sys.executable, "-m", "tests.e2e.recycled_pid"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "SO_PEERPIDFD alive refused",
        "pidfd_open alive unproven",
    ]
