import subprocess
import sys
from pathlib import Path

import pytest
from nemutator_agent.mount.kubelet_root import USUAL_PLACES, find_kubelet_root
from nemutator_common.errors import ExitCode


@pytest.mark.parametrize("place", USUAL_PLACES)
def test_a_distributions_place_is_found(place: str, tmp_path: Path) -> None:
    (tmp_path / place[1:] / "plugins_registry").mkdir(parents=True)
    assert find_kubelet_root(root=str(tmp_path)) == place


def test_a_directory_that_no_kubelet_uses_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "var/lib/kubelet").mkdir(parents=True)
    assert find_kubelet_root(root=str(tmp_path)) is None
    (tmp_path / "var/lib/k0s/kubelet/plugins_registry").mkdir(parents=True)
    assert find_kubelet_root(root=str(tmp_path)) == "/var/lib/k0s/kubelet"


def test_of_several_the_usual_one_is_taken(tmp_path: Path) -> None:
    for place in reversed(USUAL_PLACES):
        (tmp_path / place[1:] / "plugins_registry").mkdir(parents=True)
    assert find_kubelet_root(root=str(tmp_path)) == "/var/lib/kubelet"


def test_without_a_kubelet_the_process_ends_and_names_its_setting(tmp_path: Path) -> None:
    root = tmp_path / "kubelet"
    command = ("mount", f"--data-dir={tmp_path / 'data'}", f"--kubelet-root={root}")
    ended = subprocess.run(
        [sys.executable, "-m", "nemutator_agent", *command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == ExitCode.SETTINGS
    assert f"there is no {root}/plugins_registry" in ended.stderr
    assert "--root-dir with the setting kubelet_root" in ended.stderr
    assert not root.exists()
