"""A unit of a real systemd is given what is recommended of it and has that taken back, by the command line alone.

Its advice is firm after a hundred reports, which take five minutes.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.machine.commands import YOURS, start_up_beside_units
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(7200)

WITHIN_S = 3600.0
UNIT = "busy.service"
WEIGHT = f"/sys/fs/cgroup/store.slice/{UNIT}/cpu.weight"


@pytest.fixture(scope="module")
def up(machine: StartMachine) -> Iterator[Machine]:
    with machine(kernel="6.1") as guest:
        start_up_beside_units(guest)
        yield guest


def test_advice_is_given_to_a_unit_by_systemd_and_taken_back(up: Machine) -> None:
    def firm() -> bool:
        items = json.loads(up.run("nemutator", "advise", YOURS, "-o", "json"))["items"]
        return any((one["owner"], one["state"]) == (UNIT, "firm") for one in items)

    until(firm, "the advice for the unit is firm", within_s=WITHIN_S)
    process = main_process(up)
    assert weight(up) == "100"
    planned = size(up, "--plan")
    (value,) = planned["values"]
    assert (value["setting"], value["now"]) == ("CPUWeight", "100")
    assert weight(up) == "100"
    sized = size(up, "--yes")
    assert not [one for one in sized["warnings"] if "all the same" in one]
    wanted = next(one["wanted"] for one in sized["values"])
    assert weight(up) == wanted != "100"
    assert up.run("cat", sized["file"]) == sized["content"]
    up.run("nemutator", "rollback", sized["id"], "--yes", YOURS)
    assert weight(up) == "100"
    assert not up.holds(f"test -e /etc/systemd/system/{UNIT}.d")
    # It ran all the time.
    assert main_process(up) == process


def size(machine: Machine, *options: str) -> Any:
    return json.loads(machine.run("nemutator", "size", UNIT, YOURS, *options, "-o", "json"))


def weight(machine: Machine) -> str:
    return machine.run("cat", WEIGHT).strip()


def main_process(machine: Machine) -> str:
    return machine.run("systemctl", "show", "--property=MainPID", UNIT)
