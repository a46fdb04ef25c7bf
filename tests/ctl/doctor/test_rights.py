from dataclasses import replace

from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.facts import Unread

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about

OPEN = replace(machines.DEBIAN_12, perf_event_paranoid="1\n")
"""Names of kernel functions need no right there."""

WORKERS = 1 << 6 | 1 << 7
"""SETGID and SETUID."""


def test_locked_memory_counts_on_kernels_before_5_11_only() -> None:
    without = replace(machines.DEBIAN_12, status="CapEff:\t000001fffeffffff\n")
    assert about(without, "capabilities").state is State.OK
    older = replace(without, kernel="5.10.0-28-amd64")
    assert "locked memory" in about(older, "capabilities").lost


def test_root_is_told_which_rights_to_give_and_nothing_else() -> None:
    # As a container has them that was given SYS_PTRACE and DAC_READ_SEARCH.
    few = replace(OPEN, status=f"CapEff:\t{1 << 19 | 1 << 2 | WORKERS:016x}\n")
    found = about(few, "capabilities")
    assert found.lost == "profiles"
    assert found.remedy == "give observe CAP_BPF CAP_PERFMON"


def test_root_that_cannot_become_another_user_reads_no_strangers_files() -> None:
    rights = 1 << 19 | 1 << 2 | 1 << 38 | 1 << 39
    found = about(replace(OPEN, status=f"CapEff:\t{rights:016x}\n"), "capabilities")
    assert found.lost.startswith("strangers' files:")
    assert found.remedy == "give observe CAP_SETUID CAP_SETGID"
    ordinary = replace(OPEN, user=1000, status=f"CapEff:\t{rights:016x}\n")
    assert about(ordinary, "capabilities").state is State.OK


def test_sys_admin_stands_for_what_profiles_need() -> None:
    old = replace(OPEN, status=f"CapEff:\t{1 << 21 | 1 << 19 | 1 << 2 | WORKERS:016x}\n")
    assert about(old, "capabilities").state is State.OK


def test_names_of_kernel_functions_need_a_right_or_openness() -> None:
    rights = 1 << 19 | 1 << 2 | 1 << 38 | 1 << 39 | WORKERS
    facts = replace(machines.DEBIAN_12, status=f"CapEff:\t{rights:016x}\n", kptr_restrict="1")
    assert about(facts, "capabilities").remedy == "give observe CAP_SYSLOG"
    shown = replace(facts, kptr_restrict="0", perf_event_paranoid="1")
    assert about(shown, "capabilities").state is State.OK
    nobody = replace(facts, kptr_restrict="2")
    assert about(nobody, "capabilities").state is State.OK
    assert about(nobody, "kptr_restrict").state is State.LIMITED


def test_rights_that_count_are_shown_and_sys_admin_only_where_it_stands_for_others() -> None:
    all_but = "BPF DAC_READ_SEARCH PERFMON SYSLOG SYS_PTRACE SYS_RESOURCE"
    found = about(machines.DEBIAN_12, "capabilities").found
    assert (found.partition(": ")[0], sorted(found.partition(": ")[2].split())) == (
        "root",
        all_but.split(),
    )
    stands = replace(OPEN, user=7, status=f"CapEff:\t{1 << 21 | 1 << 19 | 1 << 2 | WORKERS:016x}\n")
    assert about(stands, "capabilities").found == "user 7: SYS_PTRACE DAC_READ_SEARCH SYS_ADMIN"


def test_root_of_a_containers_user_namespace_is_none_of_the_machine() -> None:
    contained = replace(machines.DEBIAN_12, uid_map="0 100000 65536\n")
    found = about(contained, "capabilities")
    assert found.state is State.LIMITED
    assert found.found.startswith("root of a container's user namespace: ")
    assert found.remedy == "run observe in the user namespace of the machine"


def test_an_unknown_set_of_rights_is_said_to_be_unknown() -> None:
    for status in (Unread("Permission denied"), "Name:\tx\n"):
        found = about(replace(machines.DEBIAN_12, status=status), "capabilities")
        assert (found.state, found.lost) == (
            State.LIMITED,
            "which rights this process has is not known",
        )


def test_root_without_rights_is_told_all_that_is_lost_and_each_right_once() -> None:
    facts = replace(
        machines.DEBIAN_12, status=machines.NO_RIGHTS, kernel="5.10.0", kptr_restrict="1"
    )
    found = about(facts, "capabilities")
    assert found.lost == (
        "runtime and version of processes of other users are guessed from their names; profiles;"
        " strangers' files: the worker that reads them must become another user;"
        " names of kernel functions in profiles;"
        " room for BPF maps in profiles: this kernel limits locked memory"
    )
    assert found.remedy == (
        "give observe CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_BPF CAP_PERFMON CAP_SETUID CAP_SETGID"
        " CAP_SYSLOG CAP_SYS_RESOURCE"
    )
