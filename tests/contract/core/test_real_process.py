"""The process of a running program, and what its dice and those of the tests promise."""

from pathlib import Path

import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.real_process import real_process
from nemutator_common.settings import Shared

from tests.fakes.process import fake_process


def test_its_directory_is_made(tmp_path: Path) -> None:
    process = real_process(Shared(data_dir=tmp_path / "data"))
    assert process.directory.root.is_dir()
    assert not process.readiness.problems()


def test_a_directory_that_cannot_be_used_is_explained(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(OperatorError, match="data directory: "):
        real_process(Shared(data_dir=tmp_path / "data"))


@pytest.mark.parametrize("roll", [0.0, 0.5, 0.999])
def test_dice_stay_below_one(tmp_path: Path, roll: float) -> None:
    for process in (fake_process(roll=roll), real_process(Shared(data_dir=tmp_path))):
        assert all(0 <= process.dice.random() < 1 for _ in range(100))
