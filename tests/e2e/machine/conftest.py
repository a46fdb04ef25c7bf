"""One guest for all tests of this folder, with `nemutator up` beside what it can be held against."""

from collections.abc import Iterator

import pytest

from tests.e2e.machine.early_guest import EarlyGuest
from tests.testbed.parts.machine.machine import Machine


@pytest.fixture(scope="package")
def guest(early_guest: EarlyGuest) -> Iterator[Machine]:
    yield early_guest.guest.result()
    early_guest.end.set()


@pytest.fixture(scope="package")
def up(guest: Machine, early_guest: EarlyGuest) -> Machine:
    """With `nemutator up` as a service, beside units that it can be held against."""
    return early_guest.up.result()
