"""`nemutator up` on a machine with control groups of version 2, held against their files."""

import pytest

from tests.e2e.machine.commands import groups
from tests.e2e.machine.conftest import QUOTA
from tests.testbed.parts.machine.machine import Machine
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

WITHIN_S = 900.0

STILL, BUSY = "/store.slice/still.service", "/store.slice/busy.service"


def test_the_memory_of_a_unit_is_what_its_files_say(up: Machine) -> None:
    def files() -> int:
        read = up.sh(
            f"cd /sys/fs/cgroup{STILL}; cat memory.current; grep inactive_file memory.stat"
        )
        charged, _, inactive = read.split()
        return int(charged) - int(inactive)

    def agree() -> bool:
        before, row, after = files(), groups(up)[STILL], files()
        return before == after == int(row["memory_bytes"])

    until(agree, "the report is of the unit's memory as it stands", within_s=WITHIN_S)


def test_the_cpu_time_and_pressure_of_a_unit_are_seen(up: Machine) -> None:
    def seen() -> bool:
        row = groups(up)[BUSY]
        # It is held back for most of the time, and waits for all of it.
        waits = float(row["pressures"]["cpu"]["some_60s"])
        return 0 < float(row["cpu_cores"]) <= 2 * QUOTA and waits > 0

    until(seen, "a unit with a quota of CPU time uses it and waits", within_s=WITHIN_S)
