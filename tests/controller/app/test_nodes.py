"""Brains that share a database are told apart."""

from pathlib import Path

from nemutator_controller.app.nodes import brain_name
from nemutator_controller.settings.brain import BrainSettings


def test_two_brains_on_one_host_have_names_of_their_own(tmp_path: Path) -> None:
    # As pods of their node's network have its name.
    for cluster in (False, True):
        one, other = (
            BrainSettings(cluster=cluster, data_dir=tmp_path / name) for name in ("a", "b")
        )
        assert brain_name(one) != brain_name(other)
        assert brain_name(one) == brain_name(one)
