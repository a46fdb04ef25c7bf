"""One guest for all tests of this folder, with `nemutator up` beside what it can be held against."""

from collections.abc import Iterator

import pytest

from tests.e2e.machine.commands import DATA
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine
from tests.testbed.running.waiting import until

UNITS = {
    "still": ("sleep", "infinity"),
    "busy": ("sh", "-c", "while :; do :; done"),
}
QUOTA = 0.05
"""Of one CPU, for `busy`: all that an emulated one gets of a loaded machine may not be much more."""

STANDS_S = 1200.0
"""Emulated, beside other work: an interpreter takes half a minute to import all of the brain."""


@pytest.fixture(scope="package")
def guest(machine: StartMachine) -> Iterator[Machine]:
    with machine(kernel="6.1") as guest:
        yield guest


@pytest.fixture(scope="package")
def up(guest: Machine) -> Machine:
    """With `nemutator up` as a service, beside units that it can be held against."""
    for unit, command in UNITS.items():
        quota = f"--property=CPUQuota={QUOTA:.0%}"
        start = ("systemd-run", "--quiet", "--slice=store.slice", f"--unit={unit}", quota)
        guest.run(*start, "--", *command)
    guest.run("systemd-run", "--quiet", "--unit=up", "nemutator", "up", DATA)
    # Asked for in there: each command of ours would take CPU time away from what it waits for.
    shown = "journalctl --unit=up --output=cat | grep -q '/open?key='"
    guest.sh(f"until {shown}; do sleep 2; done", within_s=STANDS_S)
    reported = f"nemutator topology {DATA} -o json | grep -q busy.service"
    until(lambda: guest.holds(reported), "the topology has the units", within_s=STANDS_S)
    return guest
