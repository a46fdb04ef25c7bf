from pathlib import Path

import pytest
from nemutator_agent.mount.kubelet_root import USUAL_PLACES, find_kubelet_root


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
