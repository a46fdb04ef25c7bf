from dataclasses import replace

from nemutator_ctl.doctor.checks import State

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about

OPEN = replace(machines.DEBIAN_12, perf_event_paranoid="1\n")
"""Names of kernel functions need no right there."""


def test_locked_memory_counts_on_kernels_before_5_11_only() -> None:
    without = replace(machines.DEBIAN_12, status="CapEff:\t000001fffeffffff\n")
    assert about(without, "capabilities").state is State.OK
    older = replace(without, kernel="5.10.0-28-amd64")
    assert "locked memory" in about(older, "capabilities").lost


def test_root_is_told_which_rights_to_give_and_nothing_else() -> None:
    # As a container has them that was given SYS_PTRACE and DAC_READ_SEARCH.
    few = replace(OPEN, status=f"CapEff:\t{1 << 19 | 1 << 2:016x}\n")
    found = about(few, "capabilities")
    assert found.lost == "profiles"
    assert found.remedy == "give observe CAP_BPF CAP_PERFMON"


def test_sys_admin_stands_for_what_profiles_need() -> None:
    old = replace(OPEN, status=f"CapEff:\t{1 << 21 | 1 << 19 | 1 << 2:016x}\n")
    assert about(old, "capabilities").state is State.OK


def test_names_of_kernel_functions_need_a_right_or_openness() -> None:
    rights = 1 << 19 | 1 << 2 | 1 << 38 | 1 << 39
    facts = replace(machines.DEBIAN_12, status=f"CapEff:\t{rights:016x}\n", kptr_restrict="1")
    assert about(facts, "capabilities").remedy == "give observe CAP_SYSLOG"
    shown = replace(facts, kptr_restrict="0", perf_event_paranoid="1")
    assert about(shown, "capabilities").state is State.OK
    nobody = replace(facts, kptr_restrict="2")
    assert about(nobody, "capabilities").state is State.OK
    assert about(nobody, "kptr_restrict").state is State.LIMITED
