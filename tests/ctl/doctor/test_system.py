from dataclasses import replace

import pytest
from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.facts import Space, Unread

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about


@pytest.mark.parametrize(
    ("free_bytes", "state"),
    [(0, State.MISSING), (100 << 20, State.LIMITED), (1 << 30, State.OK)],
)
def test_space_is_judged_by_how_far_a_database_grows(free_bytes: int, state: State) -> None:
    space = Space(path="/d", exists=True, usable=True, read_only=False, free_bytes=free_bytes)
    assert about(replace(machines.DEBIAN_12, space=space), "data directory").state is state


@pytest.mark.parametrize(("usable", "read_only"), [(False, False), (True, True)])
def test_a_directory_that_up_refuses_is_missing(usable: bool, read_only: bool) -> None:
    space = Space(path="/d", exists=True, usable=usable, read_only=read_only, free_bytes=1 << 40)
    found = about(replace(machines.DEBIAN_12, space=space), "data directory")
    assert found.state is State.MISSING
    assert ("read-only" in found.found) is read_only


def test_hidepid_hides_from_ordinary_users_only() -> None:
    hiding = machines.V2_MOUNTS.replace("proc proc rw", "proc proc rw,hidepid=invisible")
    root = replace(machines.DEBIAN_12, mountinfo=hiding)
    person = replace(machines.UBUNTU_DESKTOP, mountinfo=hiding)
    assert about(root, "/proc").state is State.OK
    assert about(person, "/proc").state is State.LIMITED


def test_memory_that_is_not_counted_is_a_limit_with_a_remedy() -> None:
    without = replace(machines.DEBIAN_12, controllers="cpu io pids")
    found = about(without, "control groups")
    assert found.state is State.LIMITED
    assert "cgroup_enable=memory" in found.remedy


@pytest.mark.parametrize(
    ("pressure", "state"),
    [
        ("some avg10=0.00 avg60=0.12 avg300=0.05 total=8129\n", State.OK),
        ("nonsense", State.LIMITED),
        (Unread("Operation not supported"), State.LIMITED),
    ],
)
def test_pressure_is_counted_or_missed(pressure: str | Unread, state: State) -> None:
    assert about(replace(machines.DEBIAN_12, pressure=pressure), "pressure (PSI)").state is state
