from dataclasses import replace
from typing import Any

import pytest
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_common import names
from nemutator_controller.settings.brain import BrainSettings
from nemutator_ctl.doctor.checks import DISTRUSTED, State
from nemutator_ctl.doctor.facts import Space, Unread
from nemutator_ctl.doctor.system import CHECKS

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about

OK, LIMITED, MISSING = State.OK, State.LIMITED, State.MISSING

DENIED = Unread("Permission denied")
ABSENT = Unread("No such file", absent=True)

PROC = "22 28 0:21 / /proc rw - proc proc rw"
HIDING = "22 28 0:21 / /proc rw - proc proc rw,hidepid=invisible"
V2 = "32 24 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
CPU = "33 25 0:29 / /c rw - cgroup cgroup rw,cpu,cpuacct"
MEMORY = "34 25 0:30 / /m rw - cgroup cgroup rw,memory"
SYSTEMD = "30 25 0:26 / /s rw - cgroup cgroup rw,name=systemd"


def mounted(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def space(**changed: Any) -> Space:
    roomy = Space(path="/d", exists=True, usable=True, read_only=False, free_bytes=1 << 30)
    return replace(roomy, **changed)


DOCTOR_AS_ROOT = "run `nemutator doctor` as root, outside of a container"
ELSEWHERE = "name a directory that this user can write, with free space, with --data-dir"
NO_START = "`nemutator up` does not start"
UNIFIED = "boot with systemd.unified_cgroup_hierarchy=1"
NEEDED_FILES = ObserveSettings().descriptors + 256
SWAPS = "Filename\tType\tSize\n"


@pytest.mark.parametrize(
    ("check", "changed", "state", "found"),
    [
        ("data directory", {"space": space()}, OK, "1024 MiB free: /d"),
        ("data directory", {"space": space(exists=False)}, OK,
         "1024 MiB free, not made yet: /d"),
        ("data directory", {"space": space(free_bytes=BrainSettings().database_bytes)}, OK,
         "256 MiB free: /d"),
        ("pidfd", {}, OK, "works"),
        ("callers", {}, OK, "named by the kernel"),
        ("callers", {"peer_pidfd": False}, OK,
         "known by their numbers: one that has only just started has to connect twice"),
        ("/proc", {}, OK, "mounted"),
        ("/proc", {"mountinfo": mounted(HIDING, V2)}, OK, "mounted"),
        ("control groups", {"controllers": "cpu memory\n"}, OK, "version 2: cpu memory"),
        ("pressure (PSI)", {"pressure": "some avg10=0.00\n"}, OK, "counted"),
        ("open file limit", {"open_files": None}, OK, "no limit"),
        ("open file limit", {"open_files": NEEDED_FILES}, OK,
         str(NEEDED_FILES)),
        ("swap", {"swaps": SWAPS}, OK, "off"),
        ("swap", {"swaps": ABSENT}, OK, "off"),
    ],
)  # fmt: skip
def test_what_is_as_it_should_be(
    check: str, changed: dict[str, Any], state: State, found: str
) -> None:
    finding = about(replace(machines.DEBIAN_12, **changed), check)
    assert (finding.state, finding.found) == (state, found)


@pytest.mark.parametrize(
    ("check", "changed", "state", "found", "lost", "remedy"),
    [
        ("data directory", {"space": DENIED}, MISSING, "Permission denied", NO_START, ELSEWHERE),
        ("data directory", {"space": space(usable=False)}, MISSING,
         "this user cannot use it: /d", NO_START, ELSEWHERE),
        ("data directory", {"space": space(read_only=True)}, MISSING,
         "read-only: /d", NO_START, ELSEWHERE),
        ("data directory", {"space": space(free_bytes=(1 << 20) - 1)}, MISSING,
         "0 MiB free: /d", "there is no room for a database", ELSEWHERE),
        ("data directory", {"space": space(free_bytes=1 << 20)}, LIMITED, "1 MiB free: /d",
         "the database may grow to 256 MiB, and would fill the disk before",
         "free some space, or set a smaller brain.database_bytes"),
        ("data directory", {"space": space(free_bytes=(256 << 20) - 1)}, LIMITED,
         "255 MiB free: /d",
         "the database may grow to 256 MiB, and would fill the disk before",
         "free some space, or set a smaller brain.database_bytes"),
        ("pidfd", {"pidfd": Unread("Operation not permitted")}, MISSING,
         "Operation not permitted", "`nemutator up` cannot watch the processes that it starts",
         "Linux 5.3 or newer; in a container, a seccomp profile that allows pidfd_open"),
        ("/proc", {"status": DENIED}, MISSING, "Permission denied",
         "nothing of this machine can be seen", "mount proc at /proc"),
        ("/proc", {"mountinfo": mounted(V2)}, MISSING, "not mounted",
         "nothing of this machine can be seen", "mount proc at /proc"),
        ("/proc", {"mountinfo": DENIED}, LIMITED, "Permission denied",
         "whether /proc hides processes is not known", DOCTOR_AS_ROOT),
        ("/proc", {"mountinfo": mounted(HIDING), "user": 1000}, LIMITED, "mounted with hidepid",
         "processes of other users are not in the topology",
         f"{names.AS_ROOT}, or mount /proc with gid= of a group that it is in"),
        ("control groups", {"mountinfo": DENIED}, LIMITED, "Permission denied",
         "which control groups are mounted is not known", DOCTOR_AS_ROOT),
        ("control groups", {"mountinfo": "no mounts\n"}, LIMITED, DISTRUSTED,
         "which control groups are mounted is not known", DOCTOR_AS_ROOT),
        ("control groups", {"mountinfo": mounted(PROC, SYSTEMD)}, MISSING,
         "none are mounted that count CPU or memory", "no workload's CPU and memory is known",
         "mount cgroup2 at /sys/fs/cgroup"),
        ("control groups", {"mountinfo": mounted(CPU, MEMORY)}, LIMITED,
         "version 1: cpuacct, memory", "workloads have no pressure", UNIFIED),
        ("control groups", {"mountinfo": mounted(CPU, MEMORY, V2)}, LIMITED,
         "hybrid: cpuacct, memory",
         "workloads have pressure only where they are in version 2 too", UNIFIED),
        ("control groups", {"mountinfo": mounted(CPU)}, LIMITED, "version 1: cpuacct",
         "workloads have no pressure; the memory of workloads is not counted", UNIFIED),
        ("control groups", {"mountinfo": mounted(MEMORY, V2)}, LIMITED, "hybrid: memory",
         ("workloads have pressure only where they are in version 2 too;"
         " the CPU of workloads is not counted"), UNIFIED),
        ("control groups", {"controllers": DENIED}, LIMITED,
         "version 2, controllers: Permission denied",
         "whether the memory of workloads is counted is not known",
         "mount cgroup2 at /sys/fs/cgroup, readable"),
        ("control groups", {"controllers": "cpu pids\n"}, LIMITED, "version 2: cpu pids",
         "the memory of workloads is not counted",
         "boot with cgroup_enable=memory, on a kernel with CONFIG_MEMCG"),
        ("control groups", {"controllers": "\n"}, LIMITED, "version 2: no controllers",
         "the memory of workloads is not counted",
         "boot with cgroup_enable=memory, on a kernel with CONFIG_MEMCG"),
        ("pressure (PSI)", {"pressure": "garbage"}, LIMITED, DISTRUSTED,
         "how long the machine and its workloads wait for CPU, memory and disk",
         "boot with psi=1, on Linux 4.20 or newer with CONFIG_PSI"),
        ("pressure (PSI)", {"pressure": Unread("Operation not supported")}, LIMITED,
         "Operation not supported",
         "how long the machine and its workloads wait for CPU, memory and disk",
         "boot with psi=1, on Linux 4.20 or newer with CONFIG_PSI"),
        ("open file limit", {"open_files": NEEDED_FILES - 1}, LIMITED,
         str(NEEDED_FILES - 1),
         "counters of some workloads, once there are more than it allows (six files for each)",
         f"raise the hard limit (ulimit -Hn, LimitNOFILE=) to {NEEDED_FILES} or more"),
        ("swap", {"swaps": SWAPS + "/a\tfile\t1\n"}, LIMITED, "on: 1 area",
         "memory of a workload leaves out what was swapped; and secrets could reach the disk",
         "swapoff -a, as Kubernetes nodes have it; or encrypt the swap"),
        ("swap", {"swaps": SWAPS + "/a\tfile\t1\n/b\tfile\t1\n"}, LIMITED, "on: 2 areas",
         "memory of a workload leaves out what was swapped; and secrets could reach the disk",
         "swapoff -a, as Kubernetes nodes have it; or encrypt the swap"),
        ("swap", {"swaps": "garbage"}, LIMITED, DISTRUSTED,
         "whether memory is swapped out is not known", DOCTOR_AS_ROOT),
        ("swap", {"swaps": DENIED}, LIMITED, "Permission denied",
         "whether memory is swapped out is not known", DOCTOR_AS_ROOT),
    ],
)  # fmt: skip
def test_what_is_lost_and_what_helps(
    check: str, changed: dict[str, Any], state: State, found: str, lost: str, remedy: str
) -> None:
    finding = about(replace(machines.DEBIAN_12, **changed), check)
    assert (finding.state, finding.found) == (state, found)
    assert (finding.lost, finding.remedy) == (lost, remedy)


def test_the_checks_are_answered_in_this_order_and_say_what_they_are_for() -> None:
    assert [(check.name, check.purpose) for check in CHECKS] == [
        ("data directory", "everything that is kept: history, sessions"),
        ("pidfd", "`nemutator up` notices the end of its processes"),
        ("callers", "which process asks for a secret"),
        ("/proc", "processes in the topology"),
        ("control groups", "CPU and memory of each workload"),
        ("pressure (PSI)", "waiting for CPU, memory and disk"),
        ("open file limit", "counters of many workloads"),
        ("swap", "complete figures of memory"),
    ]
