"""`nemutator history` as a process, against a real brain; the commands are those of docs/history.md."""

import json
import re
import time
from pathlib import Path

from nemutator_common.errors import ExitCode

from tests.contract.history.test_api import report
from tests.contract.profiles.test_command import nemutator
from tests.fakes.brains import standing_brain

WRITTEN = re.findall(
    r"^\.venv/bin/nemutator history ?(.*)$", Path("docs/history.md").read_text(), re.MULTILINE
)


async def test_the_commands_of_the_document_work(tmp_path: Path) -> None:
    assert len(WRITTEN) == 3
    async with standing_brain(tmp_path / "data") as brain:
        await report(brain, time.time() // 60 * 60 - 600, range(12))
        listed, shown, whole = [await nemutator(brain, "history", *one.split()) for one in WRITTEN]
    assert {one.code for one in (listed, shown, whole)} == {ExitCode.OK}, listed.stderr
    assert "system.slice   unit/ssh.service   -" in listed.stdout
    assert "/            " in listed.stdout
    assert re.search(r"^CPU \(cores\) +0\.250 +0\.250 +0\.250 ", shown.stdout, re.MULTILINE)
    assert json.loads(whole.stdout)["step_s"] == 300


async def test_what_is_not_one_workload_is_a_message(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        nothing = await nemutator(brain, "history")
        await report(brain, time.time() // 60 * 60 - 600, range(4))
        program = await nemutator(brain, "history", "//program/sshd")
        unknown = await nemutator(brain, "history", "cart")
        wrong = await nemutator(brain, "history", "sshd", "--since", "yesterday")
    assert "There is no history yet" in nothing.stdout
    assert program.code == ExitCode.OK, program.stderr
    assert unknown.code == ExitCode.FAILED
    assert "there is no history of cart" in unknown.stderr
    assert wrong.code == ExitCode.USAGE
