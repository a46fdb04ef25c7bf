"""Ten thousand processes of this machine try to be taken for another pod's."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.house.tree import REPOSITORY

TRIES = 10_000
HOUR_S = 3600


@pytest.mark.timeout(HOUR_S)
def test_no_process_is_taken_for_another_pods(capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip(
            "control groups, and numbers of processes that are chosen, take root and unshare"
        )
    folders = [REPOSITORY / "agent", REPOSITORY / "common", REPOSITORY]
    ran = subprocess.run(
        [
            *("unshare", "--pid", "--fork", "--mount-proc"),
            *(sys.executable, "-m", "tests.drill.identity_tries", str(TRIES), "7"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        stdout=subprocess.PIPE,
        text=True,
        timeout=HOUR_S,
        check=False,
    )
    with capsys.disabled():
        print(f"\n{ran.stdout}")
    summary = json.loads(ran.stdout)
    assert (summary["tries"], summary["granted_wrongly"]) == (TRIES, 0)
    # Where the kernel names the peer, nobody is turned away who belongs there.
    assert not any("SO_PEERPIDFD" in kind for kind in summary["rightful_turned_away"])
