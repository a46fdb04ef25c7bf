"""From a unit's use to its drop-in and back, by API and command, beside a systemctl that is a program."""

import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common.errors import ExitCode
from nemutator_common.wire import REPORTS_PATH

from tests.contract.sizing.test_advice import summed
from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.systemctl_program import systemctl_program

SIZE = "/api/v1/units/shop.service/size"


@dataclass
class Sized:
    brain: StandingBrain
    folder: Path
    command_line: CommandLine

    @property
    def file(self) -> Path:
        return self.folder / "shop.service.d" / "50-nemutator.conf"

    async def post(self, path: str) -> tuple[int, Any]:
        async with self.brain.local.post(path) as answer:
            return answer.status, await answer.json()

    async def nemutator(self, command: str, *words: str) -> tuple[int, str]:
        ran = await self.command_line(command, *words)
        return ran.code, ran.out + ran.err


@pytest.fixture
async def sized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Sized]:
    folder = tmp_path / "system"
    folder.mkdir()
    program = systemctl_program(tmp_path, folder=folder)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    async with standing_brain(tmp_path / "data", unit_folder=str(folder)) as brain:
        batch = summed(1, 101, begun_at=time.time() - 1_600, path="/system.slice/shop.service")
        async with brain.local.post(REPORTS_PATH, data=msgspec.json.encode(batch)) as answer:
            assert answer.status == 200
        yield Sized(brain, folder, CommandLine(tmp_path / "data", capsys))


async def test_by_api_a_unit_is_given_what_is_advised_and_what_somebody_changes_stays(
    sized: Sized,
) -> None:
    status, plan = await sized.post(f"{SIZE}?plan=true")
    assert (status, plan["outcome"], plan["before"]) == (200, "planned", None)
    assert any("no limit of memory" in one for one in plan["warnings"])
    assert not sized.file.exists()
    status, done = await sized.post(SIZE)
    assert (status, done["outcome"]) == (200, "created")
    assert sized.file.read_text() == done["content"] == plan["content"]
    status, again = await sized.post(SIZE)
    assert (again["outcome"], again["id"]) == ("unchanged", "")

    sized.file.write_text(done["content"] + "# mine\n")
    rollback = f"/api/v1/mutations/{done['id']}/rollback"
    status, planned = await sized.post(f"{rollback}?plan=true")
    assert [step["verdict"] for step in planned["steps"]] == ["conflict"]
    status, taken = await sized.post(rollback)
    assert (status, taken["state"]) == (200, "conflict")
    assert sized.file.read_text().endswith("# mine\n")

    sized.file.write_text(done["content"])
    status, taken = await sized.post(rollback)
    assert (status, taken["state"]) == (200, "reversed")
    assert list(sized.folder.iterdir()) == []
    status, plan = await sized.post(f"{SIZE}?plan=true")
    assert any("taken back before" in one for one in plan["warnings"])
    status, done = await sized.post(SIZE)
    assert done["outcome"] == "created"


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("none.service", "no unit none.service"),
        ("alias.service", "another name of shop.service"),
        ("..%2F..%2Fshop.service", "expected letters"),
        ("a%5Cx2d.service", "no unit"),
        ("shop%40.service", "a template does not run"),
        ("session-1.scope", "only services"),
    ],
)
async def test_by_api_what_is_not_sized_says_why(sized: Sized, unit: str, said: str) -> None:
    status, refused = await sized.post(f"/api/v1/units/{unit}/size")
    assert (status, said in refused["error"], bool(refused["remedy"])) == (409, True, True)
    assert list(sized.folder.iterdir()) == []


@pytest.mark.slow
async def test_by_command_a_file_that_was_there_before_comes_back(sized: Sized) -> None:
    sized.file.parent.mkdir()
    sized.file.write_text("[Service]\nCPUWeight=7\n")
    code, out = await sized.nemutator("size", "unit/shop.service", "--plan")
    assert (code, "  - CPUWeight=7" in out) == (ExitCode.OK, True), out
    code, out = await sized.nemutator("size", "shop.service")
    assert (code, "read the plan with --plan" in out) == (ExitCode.USAGE, True), out
    code, out = await sized.nemutator("size", "shop.service", "--yes")
    assert (code, "(mutation " in out) == (ExitCode.OK, True), out
    id_ = out.split("(mutation ")[1].split(")")[0]
    code, out = await sized.nemutator("mutations")
    assert "SystemdUnit shop.service" in out
    code, out = await sized.nemutator("rollback", id_, "--yes")
    assert code == ExitCode.OK, out
    assert sized.file.read_text() == "[Service]\nCPUWeight=7\n"
