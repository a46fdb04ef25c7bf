"""nemutator where most people have it: another kernel, systemd, control groups of version 2.

Linux 6.1 has no SO_PEERPIDFD: what identity shows there, it shows by pidfd_open alone.
"""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.testbed.parts.machine.machine import Machine
from tests.testbed.running.waiting import until

DATA = "/run/nemutator-test"
pytestmark = pytest.mark.timeout(1800)

STANDS_S = 900.0
"""Emulated, beside other work: an interpreter takes half a minute to import all of the brain."""

UNITS = {
    "still": "exec sleep infinity",
    "busy": "while :; do :; done",
}
QUOTA = 0.2
"""Of one CPU, for `busy`: the kernel holds it back, however fast the machine is."""

Rows = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def up(machine: Machine) -> Iterator[Machine]:
    """With `nemutator up` as a service, beside units that it can be held against."""
    for unit, script in UNITS.items():
        quota = f"CPUQuota={QUOTA:.0%}"
        machine.run("systemd-run", "--quiet", f"--unit={unit}", "-p", quota, "sh", "-c", script)
    machine.run("systemd-run", "--quiet", "--unit=nemutator", "nemutator", "up", "--data-dir", DATA)
    until(
        lambda: machine.holds(f"{_topology()} | grep -q busy.service"),
        "the topology has the units",
        within_s=STANDS_S,
    )
    yield machine
    machine.run("systemctl", "stop", "nemutator", *UNITS)


def test_it_is_a_node_as_most_are(machine: Machine) -> None:
    assert machine.run("uname", "-r").startswith("6.1.")
    assert machine.run("stat", "-fc", "%T", "/sys/fs/cgroup") == "cgroup2fs\n"
    assert machine.run("cat", "/proc/1/comm") == "systemd\n"


def test_doctor_misses_nothing_there(machine: Machine) -> None:
    findings = json.loads(machine.run("nemutator", "doctor", "-o", "json"))["findings"]
    states = {finding["check"]: finding["state"] for finding in findings}
    assert states["BTF"] == "ok"
    assert {check for check, state in states.items() if state != "ok"} == set()


def test_callers_are_known_and_mistaken_for_nobody_by_pidfd_open_alone(machine: Machine) -> None:
    ran = machine.sh(
        "cd /opt/nemutator/source && python3 -m pytest -q -rs -p no:cacheprovider --timeout=900"
        " tests/hostile/identity/test_callers.py"
    )
    assert re.search(r"^[1-9]\d* passed", ran.splitlines()[-1]), ran
    skipped = [line for line in ran.splitlines() if line.startswith("SKIPPED")]
    assert skipped, "this kernel has SO_PEERPIDFD, and proves nothing about pidfd_open"
    assert all("SO_PEERPIDFD needs Linux 6.5" in line for line in skipped), ran


def test_whoever_has_a_callers_number_after_it_is_refused_there_too(machine: Machine) -> None:
    ran = machine.sh(
        "cd /opt/nemutator/source && unshare --pid --fork --mount-proc"
        " python3 -m tests.e2e.recycled_pid pidfd_open"
    )
    assert ran == "pidfd_open alive\n"


def test_the_memory_of_a_unit_is_what_its_files_say(up: Machine) -> None:
    def files() -> int:
        group = "/sys/fs/cgroup/system.slice/still.service"
        read = up.sh(f"cat {group}/memory.current; grep inactive_file {group}/memory.stat")
        charged, _, inactive = read.split()
        return int(charged) - int(inactive)

    def agree() -> bool:
        before, row, after = files(), _rows(up)["/system.slice/still.service"], files()
        return before == after == int(row["memory_bytes"])

    until(agree, "the report is of the unit's memory as it stands", within_s=STANDS_S)


def test_the_cpu_time_and_pressure_of_a_unit_are_seen(up: Machine) -> None:
    def seen() -> bool:
        row = _rows(up)["/system.slice/busy.service"]
        # It is held back for four fifths of the time, and waits for all of it.
        waits = float(row["pressures"]["cpu"]["some_60s"])
        return 0 < float(row["cpu_cores"]) <= 2 * QUOTA and waits > 0

    until(seen, "a unit with a quota of CPU time uses it and waits", within_s=STANDS_S)


def _topology() -> str:
    return shlex.join(["nemutator", "topology", "--data-dir", DATA, "-o", "json"])


def _rows(machine: Machine) -> Rows:
    (node,) = json.loads(machine.sh(_topology()))["nodes"]
    return {row["path"]: row for row in node["workloads"]}
