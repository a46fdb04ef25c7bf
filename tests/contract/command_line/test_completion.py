"""Completion in a real bash, and every command asked for what may come behind it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nemutator_ctl.__main__ import COMMANDS
from nemutator_ctl.__main__ import main as nemutator
from nemutator_ctl.completion.scripts import SCRIPTS

BASH = shutil.which("bash")

# As readline calls it when Tab is pressed at the end of LINE.
TAB = """\
source <(nemutator completion bash)
COMP_LINE="$LINE" COMP_POINT=${#LINE}
read -ra COMP_WORDS <<< "$LINE"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { echo "compopt $*"; }
_nemutator
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(line: str) -> list[str]:
    programs = f"{Path(sys.executable).parent}:{os.defpath}"
    ran = subprocess.run(
        ["bash", "-c", TAB],
        env={"PATH": programs, "LINE": line, "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stderr == ""
    return ran.stdout.split()


@pytest.mark.slow
@pytest.mark.skipif(BASH is None, reason="this machine has no bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nemutator mutat", ["mutations"]),
        ("nemutator mutations --namesp", ["--namespace"]),
        ("nemutator --context west mutations -o js", ["json"]),
        ("kubectl nemutator workl", ["workloads"]),
        ("nemutator mutations --output=ya", ["yaml"]),
        ("nemutator mutations --kubeconfig ", ["compopt", "-o", "default"]),
        ("nemutator secret wa", ["watch"]),
        ("nemutator nothing ", []),
    ],
)
def test_tab_in_bash_completes(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"completion"}))
def test_each_command_says_what_may_come_behind_it(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nemutator(["__complete", "--", command, "-"]) == 0
    words = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert "--help" in words


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_scripts_are_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert nemutator(["completion", shell]) == 0
    assert capsys.readouterr().out == SCRIPTS[shell]


def test_a_command_that_is_asked_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    """`link` would make a link."""
    assert nemutator(["__complete", "--", "link", ""]) == 0
    assert capsys.readouterr() == ("", "")
