"""One guest for all tests of this folder, with `nemutator up` beside what it can be held against."""

from collections.abc import Iterator

import pytest

from tests.e2e.machine.commands import SUMMARY_S, YOURS, start_unit, start_up
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine

UNITS = {
    "still": ("sleep", "infinity"),
    "busy": ("sh", "-c", "while :; do :; done"),
}
QUOTA = 0.05
"""Of one CPU, for `busy`: all that an emulated one gets of a loaded machine may not be much more."""


@pytest.fixture(scope="package")
def guest(machine: StartMachine) -> Iterator[Machine]:
    with machine(kernel="6.1") as guest:
        yield guest


@pytest.fixture(scope="package")
def up(guest: Machine) -> Machine:
    """With `nemutator up` as a service, beside units that it can be held against."""
    for unit, command in UNITS.items():
        start_unit(guest, unit, *command, options=[f"--property=CPUQuota={QUOTA:.0%}"])
    start_up(guest, "up", YOURS, options=[f"--setenv=NEMUTATOR_OBSERVE_SUMMARY_S={SUMMARY_S}"])
    return guest
