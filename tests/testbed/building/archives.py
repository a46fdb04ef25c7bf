"""Debian's archive as others would see it: another release, another processor, a machine with nothing."""

from pathlib import Path

from tests.testbed.building import apt, made
from tests.testbed.building.apt import Archive


def archive(scratch: Path, *, architecture: str = "", suite: str = "") -> Archive:
    """Where this machine has its own packages from; *suite* is another release of the same."""
    machine = made.this_machine()
    lists_folder = scratch / "machine-apt"
    lists_folder.mkdir()
    with apt.updated(lists_folder) as lists:
        mirror = lists.mirror(machine.codename)
    return Archive(mirror, suite or machine.codename, architecture or machine.architecture)
