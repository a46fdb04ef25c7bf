"""`nemutator history`, against a real brain; the commands are those of docs/history.md."""

import json
import re
import time
from pathlib import Path

from nemutator_common.errors import ExitCode

from tests.contract.history.test_api import report
from tests.fakes.brains import standing_brain
from tests.fakes.command_lines import CommandLine

WRITTEN = re.findall(
    r"^\.venv/bin/nemutator history ?(.*)$", Path("docs/history.md").read_text(), re.MULTILINE
)


async def test_the_commands_of_the_document_work(tmp_path: Path, nemutator: CommandLine) -> None:
    assert len(WRITTEN) == 3
    async with standing_brain(tmp_path / "data") as brain:
        await report(brain, time.time() // 60 * 60 - 600, range(12))
        listed, shown, whole = [await nemutator("history", *one.split()) for one in WRITTEN]
    assert {one.code for one in (listed, shown, whole)} == {ExitCode.OK}, listed.err
    assert "system.slice   unit/ssh.service   -" in listed.out
    assert "/            " in listed.out
    assert re.search(r"^CPU \(cores\) +0\.250 +0\.250 +0\.250 ", shown.out, re.MULTILINE)
    assert json.loads(whole.out)["step_s"] == 300


async def test_what_is_not_one_workload_is_a_message(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        nothing = await nemutator("history")
        await report(brain, time.time() // 60 * 60 - 600, range(4))
        program = await nemutator("history", "//program/sshd")
        unknown = await nemutator("history", "cart")
        wrong = await nemutator("history", "sshd", "--since", "yesterday")
    assert "There is no history yet" in nothing.out
    assert program.code == ExitCode.OK, program.err
    assert unknown.code == ExitCode.FAILED
    assert "there is no history of cart" in unknown.err
    assert wrong.code == ExitCode.USAGE
