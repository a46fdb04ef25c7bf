"""What tests say to `nemutator up` in a guest, and what it answers."""

import json
from collections.abc import Iterable
from typing import Any

from tests.testbed.parts.machine.machine import Machine

YOURS = "--data-dir=/run/nemutator-test"
"""Where the data of root's `up` is."""
USERS = "--data-dir=/run/nemutator-user/data"

SUMMARY_S = 3

UNITS = {
    "still": ("sleep", "infinity"),
    "busy": ("sh", "-c", "while :; do :; done"),
}
QUOTA = 0.05
"""Of one CPU, for `busy`: all that an emulated one gets of a loaded machine may not be much more."""

STANDS_S = 1200.0
"""Emulated, beside other work: an interpreter takes half a minute to import all of the brain."""

Rows = dict[str, dict[str, Any]]


def start_unit(machine: Machine, unit: str, *command: str, options: Iterable[str] = ()) -> None:
    """A service of a slice that has only such in it."""
    start = ("systemd-run", "--quiet", "--slice=store.slice", f"--unit={unit}")
    machine.run(*start, *options, "--", *command)


def start_up(machine: Machine, unit: str, *words: str, options: Iterable[str] = ()) -> None:
    """`nemutator up` as a service, and return when it has shown its link."""
    machine.run("systemd-run", "--quiet", f"--unit={unit}", *options, "nemutator", "up", *words)
    # Asked for in there: each command of ours would take CPU time away from what it waits for.
    shown = f"journalctl --unit={unit} --output=cat | grep -q '/open?key='"
    machine.sh(f"until {shown}; do sleep 2; done", within_s=STANDS_S)


def start_up_beside_units(machine: Machine) -> None:
    """`nemutator up` as a service, beside units that it can be held against."""
    for unit, command in UNITS.items():
        start_unit(machine, unit, *command, options=[f"--property=CPUQuota={QUOTA:.0%}"])
    start_up(machine, "up", YOURS, options=[f"--setenv=NEMUTATOR_OBSERVE_SUMMARY_S={SUMMARY_S}"])


def groups(machine: Machine, directory: str = YOURS) -> Rows:
    """By their path; empty before the first report."""
    said = machine.run("nemutator", "topology", directory, "-o", "json")
    return {
        row["path"]: row for node in json.loads(said).get("nodes", ()) for row in node["workloads"]
    }


def figure(rows: Rows, path: str, *keys: str) -> float:
    """0 while there is none: to tell a rate takes two reports."""
    found: Any = rows.get(path)
    for key in keys:
        found = found and found.get(key)
    return float(found or 0)
