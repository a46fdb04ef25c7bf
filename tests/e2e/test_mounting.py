"""Real mounts, where something else is in a volume's place."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.house.tree import REPOSITORY


def test_a_volume_is_seen_whatever_was_there_before_and_leaves_nothing() -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("mounts in a namespace of their own take root and unshare")
    folders = [REPOSITORY / "agent", REPOSITORY / "common", REPOSITORY]
    ran = subprocess.run(
        ["unshare", "--mount", sys.executable, "-m", "tests.e2e.mounting"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    another = "something else than this volume is mounted there"
    noted = "kubelet has noted another driver's volume"
    no_directory = "the volume's directory is something else"
    assert ran.stdout.splitlines() == [
        f"over_another_mount ('{another}', '{another}') theirs False",
        f"under_another_mount {another} theirs",
        f'over_another_drivers_volume ("{noted}", "{noted}") False',
        f"under_another_id {another} ours,secrets",
        "through_a_link there is a link in the target's path",
        f"through_a_link_to_another_mount {no_directory}, {no_directory} ['theirs']",
        "unmounted_by_somebody True True False",
        "twice False False",
        "for_its_group drwxrwsrwt 2000 0",
        "never_there No such file or directory",
        "filled_by_its_pod True No space left on device, another volume is not refused False",
        "holds_two_sets_of_files ['FolderState.CURRENT', 'FolderState.CURRENT'] No space left on device",
    ]
