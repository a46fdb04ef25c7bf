"""One guest with an arm64 processor for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.e2e.machine.conftest import up
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine

__all__ = ["up"]


@pytest.fixture(scope="package")
def guest(machine: StartMachine) -> Iterator[Machine]:
    with machine(kernel="6.1", arch="arm64") as guest:
        yield guest
