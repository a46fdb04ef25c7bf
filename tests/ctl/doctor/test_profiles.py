from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.requirements import INITIAL_PID_NAMESPACE, SamplerFacts, missing
from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.facts import Unread

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about


def test_the_last_ptrace_scope_leaves_nobody_a_way() -> None:
    facts = replace(machines.DEBIAN_12, ptrace_scope="3\n")
    assert "no process" in about(facts, "Yama ptrace_scope").lost
    assert about(replace(facts, ptrace_scope="2\n"), "Yama ptrace_scope").state is State.OK


def test_confidentiality_keeps_programs_from_the_kernel() -> None:
    facts = replace(machines.DEBIAN_12, lockdown="none integrity [confidentiality]\n")
    assert about(facts, "kernel lockdown").state is State.LIMITED


@given(
    st.sampled_from(["4.18.0", "5.7.19", "5.8", "6.1.0-18", "custom", ""]),
    st.sampled_from(["x86_64", "aarch64", "riscv64"]),
    st.booleans(),
    st.sampled_from([INITIAL_PID_NAMESPACE, 4026532177]),
)
def test_the_doctor_and_the_agent_judge_alike(
    release: str, processor: str, btf: bool, pid_namespace: int
) -> None:
    facts = replace(
        machines.DEBIAN_12,
        kernel=release,
        processor=processor,
        btf=btf,
        pid_namespace=pid_namespace,
    )
    refused = missing(
        SamplerFacts(
            release=release,
            processor=processor,
            btf=btf,
            capabilities=-1,
            locked_bytes=-1,
            pid_namespace=pid_namespace,
        )
    )
    found = [about(facts, check) for check in ("kernel", "processor", "BTF", "pid namespace")]
    limits = [one for one in found if one.state is not State.OK]
    if refused is None:
        assert limits == []
    else:
        assert refused.what in limits[0].lost
        assert limits[0].remedy == refused.remedy


def test_perf_event_paranoid_binds_nobody_who_has_the_rights() -> None:
    strict = replace(machines.DEBIAN_12, perf_event_paranoid="4\n")
    assert about(strict, "perf events").state is State.OK
    without = replace(strict, perf_event_paranoid=Unread("No such file", absent=True))
    assert about(without, "perf events").state is State.LIMITED


@pytest.mark.parametrize("value", ["2", "x"])
def test_kernel_pointers_that_are_hidden_from_everybody_leave_no_names(value: str) -> None:
    facts = replace(machines.DEBIAN_12, kptr_restrict=value)
    assert "kernel functions" in about(facts, "kptr_restrict").lost
