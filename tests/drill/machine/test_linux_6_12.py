"""The same machine with Linux 6.12, which has SO_PEERPIDFD: both ways of holding a caller work there."""

import pytest

from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.machine import machine as parts_machine
from tests.testbed.parts.machine.machine import Machine
from tests.testbed.running.run import Run

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def newer(testbed_run: Run) -> Machine:
    with skipped_when_missing():
        return parts_machine.begin(testbed_run, "6.12")


def test_doctor_misses_nothing_there(newer: Machine) -> None:
    assert newer.run("uname", "-r").startswith("6.12.")
    assert "without a limit" in newer.run("nemutator", "doctor")


def test_callers_are_known_and_mistaken_for_nobody_either_way(newer: Machine) -> None:
    ran = newer.sh(
        "cd /opt/nemutator/source && python3 -m pytest -q -rs -p no:cacheprovider --timeout=900"
        " tests/hostile/identity/test_callers.py"
    )
    assert " passed" in ran.splitlines()[-1], ran
    assert "SKIPPED" not in ran


def test_whoever_has_a_callers_number_after_it_is_refused_either_way(newer: Machine) -> None:
    ran = newer.sh(
        "cd /opt/nemutator/source && unshare --pid --fork --mount-proc"
        " python3 -m tests.e2e.recycled_pid"
    )
    assert ran.splitlines() == ["SO_PEERPIDFD alive", "pidfd_open alive"]
