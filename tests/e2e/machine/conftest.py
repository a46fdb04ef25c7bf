"""One guest for all tests of this folder, with `nemutator up` beside what it can be held against."""

from collections.abc import Iterator

import pytest

from tests.e2e.machine.commands import start_up_beside_units
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine


@pytest.fixture(scope="package")
def guest(machine: StartMachine) -> Iterator[Machine]:
    with machine(kernel="6.1") as guest:
        yield guest


@pytest.fixture(scope="package")
def up(guest: Machine) -> Machine:
    start_up_beside_units(guest)
    return guest
