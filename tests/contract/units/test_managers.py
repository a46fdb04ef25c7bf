"""One suite for what tells of units: the fake of tests, and systemctl as a program. tests/e2e/machine has the real
systemd."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nemutator_controller.units.drop_ins import drop_in
from nemutator_controller.units.files import DropInFiles
from nemutator_controller.units.ports import UnitManager
from nemutator_controller.units.refusals import UnitsUnavailableError
from nemutator_controller.units.systemctl import NOT_HERE, Systemctl

from tests.fakes.systemctl_program import systemctl_program
from tests.fakes.units import USUAL, MemoryManager

CONTENT = drop_in(weight=59, memory_high=412_000_000)


@pytest.fixture(params=["memory", "program"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[UnitManager, Path]:
    folder = tmp_path / "system"
    folder.mkdir()
    if request.param == "memory":
        units = dict.fromkeys(("shop.service", "alias.service"), USUAL)
        return MemoryManager(folder, units), folder
    return Systemctl([str(systemctl_program(tmp_path, folder=folder))]), folder


async def test_a_unit_has_what_its_drop_ins_say_once_they_are_read(
    manager: tuple[UnitManager, Path],
) -> None:
    asked, folder = manager
    assert await asked.state("shop.service") == USUAL
    files = DropInFiles(folder)
    await files.replace("shop.service", before=(), after=(CONTENT,))
    await asked.reload()
    state = await asked.state("shop.service")
    assert state is not None
    assert (state.cpu_weight, state.memory_high) == (59, 412_000_000)
    assert state.drop_ins == (files.place("shop.service"),)
    await files.replace("shop.service", before=(CONTENT,), after=())
    await asked.reload()
    assert await asked.state("shop.service") == USUAL


async def test_an_alias_is_named_and_a_stranger_is_none(manager: tuple[UnitManager, Path]) -> None:
    asked, _ = manager
    alias = await asked.state("alias.service")
    assert alias is not None
    assert alias.name == "shop.service"
    assert await asked.state("none.service") is None
    # It begins as an option does.
    assert await asked.state("--version.service") is None


async def test_where_systemd_does_not_run_it_says_so(tmp_path: Path) -> None:
    program = systemctl_program(tmp_path, folder=tmp_path)
    (program.parent / "away").touch()
    with pytest.raises(UnitsUnavailableError, match="booted with systemd") as failure:
        await Systemctl([str(program)]).state("shop.service")
    assert failure.value.remedy == NOT_HERE
    with pytest.raises(UnitsUnavailableError, match="no systemctl here"):
        await Systemctl([str(tmp_path / "none")]).reload()


@pytest.mark.parametrize("end", [lambda path: None, lambda path: path.chmod(0o644)])
async def test_what_cannot_be_run_or_says_nothing_is_told(
    tmp_path: Path, end: Callable[[Path], None]
) -> None:
    program = tmp_path / "systemctl"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    end(program)
    with pytest.raises(UnitsUnavailableError, match="systemctl daemon-reload: "):
        await Systemctl([str(program)]).reload()
