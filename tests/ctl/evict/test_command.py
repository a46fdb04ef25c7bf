"""Command lines of `nemutator evict` that are refused before anything is asked."""

from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_ctl.evict.command import main


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
