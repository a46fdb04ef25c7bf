"""Command lines of `nemutator rollback` that are refused before anything is asked."""

from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_ctl.rollback.command import main


@pytest.mark.parametrize("one", [["d1"], ["--pod", "team/web-1"]])
def test_one_mutation_is_not_taken_back_where_only_a_rehearsal_was_asked_for(
    one: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*one, "--dry-run", "server", "--yes", "--data-dir", str(tmp_path)])
    assert refused.value.code == ExitCode.USAGE
    assert "--dry-run is for many" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--policy=team", "--namespace="],
        ["--policy=", "--since=2h"],
        ["--all", "--workload="],
        ["-n=shop", "--until="],
        ["--pod="],
        [""],
    ],
)
def test_a_variable_of_a_script_that_is_not_set_takes_nothing_back(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*words, "--yes", "--data-dir", str(tmp_path)])
    assert refused.value.code == ExitCode.USAGE
    assert "is empty" in capsys.readouterr().err


def test_what_is_done_to_many_is_not_called_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["--all", "--plan", "--output=json", "--data-dir", str(tmp_path)])
    assert refused.value.code == ExitCode.USAGE
    assert "--output is for one mutation" in capsys.readouterr().err
