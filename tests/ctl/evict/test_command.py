"""Command lines of `nemutator evict` that are refused before anything is asked."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_ctl.evict.command import main
from nemutator_ctl.roll.command import main as roll


@pytest.mark.parametrize(
    "words",
    [
        ["-n=shop", "--node="],
        ["-n=shop", "--selector="],
        ["--namespace=", "--selector=app=web"],
        ["-n=shop", ""],
        ["-n=shop", "--planned="],
    ],
)
def test_a_variable_of_a_script_that_is_not_set_evicts_nobody(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*words, "--reason=x", "--yes", "--data-dir", str(tmp_path)])
    assert refused.value.code == ExitCode.USAGE
    assert "is empty" in capsys.readouterr().err


@pytest.mark.parametrize("command", [main, roll])
def test_a_time_that_is_no_number_is_refused_by_its_option(
    command: Callable[[list[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    option = "--within" if command is main else "--deadline"
    with pytest.raises(SystemExit) as refused:
        command(["deployment/web", f"{option}=nan", "--plan", "--data-dir", str(tmp_path)])
    assert refused.value.code == ExitCode.USAGE
    assert f"{option}: 'nan': expected a number of seconds" in capsys.readouterr().err
