import dataclasses

import pytest
from nemutator_agent.usage.gaps import Gaps, hides_processes, name_gaps
from nemutator_agent.usage.hierarchies import Hierarchy

V2 = Hierarchy(2, frozenset(), "/sys/fs/cgroup", "/")
V1 = Hierarchy(1, frozenset({"memory"}), "/sys/fs/cgroup/memory", "/")
NONE = Gaps(hierarchies=(V2,), groups=9)


def test_where_everything_is_seen_nothing_is_missing() -> None:
    assert name_gaps(NONE) == ()


@pytest.mark.parametrize(
    ("gap", "what", "remedy"),
    [
        ({"denied_executables": 1}, "executables of 1 process", "root"),
        ({"denied_executables": 2, "as_root": True}, "of 2 processes", "CAP_SYS_PTRACE"),
        ({"hidden_processes": True}, "processes of other users", "gid="),
        ({"unplaced_processes": 4}, "control groups of 4 processes", "cgroup namespace"),
        ({"processes_over_cap": 5}, "5 processes", "observe.processes"),
        ({"groups_over_cap": 5}, "5 control groups", "observe.groups"),
        ({"reads_over_cap": 5}, "5 counters", "ulimit -n"),
        ({"machine_pressure": False}, "pressure", "psi=1"),
        ({"process_events": False}, "between two snapshots", "CONFIG_PROC_EVENTS"),
        ({"machine_disks": False}, "what the disks move", "hostPID"),
        ({"machine_network": False}, "what the network moves", "SYS_PTRACE"),
        ({"hierarchies": ()}, "control groups", "mount cgroup2"),
        ({"groups_without_cpu": 9}, "CPU of all control groups", "CPUAccounting=yes"),
        ({"groups_without_memory": 3}, "memory of 3 of 9", "cgroup_enable=memory"),
        ({"groups_without_memory": 3, "hierarchies": (V1,)}, "memory of 3 of 9", "unified"),
        ({"groups_without_pressure": 9}, "pressure of all", "cgroup.pressure"),
        ({"groups_without_pressure": 9, "hierarchies": (V2, V1)}, "pressure of all", "unified"),
    ],
)
def test_each_gap_is_named_with_its_remedy(gap: dict[str, object], what: str, remedy: str) -> None:
    (missing,) = name_gaps(dataclasses.replace(NONE, **gap))  # type: ignore[arg-type]
    assert what in missing.what
    assert missing.why
    assert remedy in missing.remedy


def test_without_any_pressure_groups_are_not_named_too() -> None:
    gaps = dataclasses.replace(NONE, machine_pressure=False, groups_without_pressure=9)
    assert len(name_gaps(gaps)) == 1


@pytest.mark.parametrize(
    ("options", "hidden"),
    [("rw", False), ("rw,hidepid=2", True), ("rw,gid=4,hidepid=invisible", True)],
)
def test_a_proc_that_hides_is_noticed(options: str, hidden: bool) -> None:
    line = f"25 30 0:23 / /proc rw,nosuid - proc proc {options}\n".encode()
    assert hides_processes(b"1 2 0:3 / / rw - ext4 /dev/a rw\n" + line) is hidden


def test_only_cpu_time_is_added_up_where_no_controller_counts_it() -> None:
    cpu, memory = name_gaps(
        dataclasses.replace(NONE, groups_without_cpu=9, groups_without_memory=9)
    )
    assert "added up instead" in cpu.why
    assert "added up" not in memory.why
