from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.requirements import INITIAL_PID_NAMESPACE, SamplerFacts, missing
from nemutator_ctl.doctor.checks import DISTRUSTED, State
from nemutator_ctl.doctor.facts import Unread

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about


def test_the_last_ptrace_scope_leaves_nobody_a_way() -> None:
    facts = replace(machines.DEBIAN_12, ptrace_scope="3\n")
    assert "no process" in about(facts, "Yama ptrace_scope").lost
    assert about(replace(facts, ptrace_scope="2\n"), "Yama ptrace_scope").state is State.OK


def test_without_filters_of_system_calls_strangers_files_are_not_read() -> None:
    for seccomp in (machines.ABSENT, "kill_thread allow\n"):
        found = about(replace(machines.DEBIAN_12, seccomp=seccomp), "seccomp")
        assert found.state is State.LIMITED
        assert "heap" in found.lost


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


PERF = "a kernel with CONFIG_PERF_EVENTS; in a container, /proc/sys readable"
RATE = (
    "sysctl kernel.perf_event_max_sample_rate=100000; the kernel lowers it by itself when samples"
    " take too long"
)
ABSENT = Unread("No such file", absent=True)
DENIED = Unread("Permission denied")


NO_ENGINE = (
    "a kernel with CONFIG_DEBUG_INFO_BTF=y, or"
    " apt-get install python3-bpfcc linux-headers-$(uname -r)"
)


@pytest.mark.parametrize(
    ("check", "changed", "found"),
    [
        ("kernel", {}, "6.1.0-18-amd64"),
        ("kernel", {"kernel": ""}, "it has no name"),
        ("processor", {}, "x86_64"),
        ("processor", {"processor": "aarch64"},
         "aarch64: a C function that calls no other hides its caller from profiles"),
        ("BTF", {}, "/sys/kernel/btf/vmlinux"),
        ("sampling engine", {"bcc": True, "kernel_headers": True},
         "libbpf, because the kernel has BTF"),
        ("sampling engine", {"btf": ABSENT, "bcc": True, "kernel_headers": True},
         "bcc, because the kernel has no BTF: it compiles with the kernel's headers"),
        ("pid namespace", {}, f"number {INITIAL_PID_NAMESPACE}"),
        ("libbpf", {}, "v1.1"),
        ("perf events", {"perf_event_paranoid": "4\n"}, "perf_event_paranoid 4"),
        ("perf_event_max_sample_rate", {"perf_event_max_sample_rate": "99\n"}, "99 Hz"),
        ("kptr_restrict", {"kptr_restrict": "1\n"}, "1"),
        ("Yama ptrace_scope", {"ptrace_scope": "2\n"}, "2"),
        ("Yama ptrace_scope", {"ptrace_scope": ABSENT}, "not there: Yama restricts nothing"),
        ("kernel lockdown", {"lockdown": "none [integrity] x"}, "integrity"),
        ("kernel lockdown", {"lockdown": ABSENT},
         "not there: nothing is locked, or securityfs is not mounted"),
    ],
)  # fmt: skip
def test_what_is_as_profiles_need_it(check: str, changed: dict[str, Any], found: str) -> None:
    finding = about(replace(machines.DEBIAN_12, **changed), check)
    assert (finding.state, finding.found) == (State.OK, found)


@pytest.mark.parametrize(
    ("check", "changed", "found", "lost", "remedy"),
    [
        ("libbpf", {"libbpf": ABSENT}, "No such file", "profiles: it loads their programs",
         "install libbpf.so.1 (Debian and Ubuntu: libbpf1; Fedora and RHEL 9: libbpf)"),
        ("sampling engine", {"btf": ABSENT},
         "none: no BTF for libbpf, and no python3-bpfcc and kernel headers for bcc",
         "profiles", NO_ENGINE),
        ("sampling engine", {"btf": ABSENT, "bcc": True},
         "none: no BTF for libbpf, and no kernel headers for bcc", "profiles", NO_ENGINE),
        ("perf events", {"perf_event_paranoid": ABSENT}, "No such file",
         "profiles: the kernel may have no perf events", PERF),
        ("perf_event_max_sample_rate", {"perf_event_max_sample_rate": "98\n"}, "98",
         "profiles of 99 Hz", RATE),
        ("perf_event_max_sample_rate", {"perf_event_max_sample_rate": "x"}, DISTRUSTED,
         "profiles of 99 Hz", RATE),
        ("kptr_restrict", {"kptr_restrict": "2\n"}, "2",
         "names of kernel functions in profiles", "sysctl kernel.kptr_restrict=1"),
        ("Yama ptrace_scope", {"ptrace_scope": "3\n"}, "3",
         "heap profiles: the memory of no process may be read",
         "set kernel.yama.ptrace_scope=1 in sysctl.d and boot: 3 stays until then"),
        ("Yama ptrace_scope", {"ptrace_scope": DENIED}, "Permission denied",
         "heap profiles: the memory of no process may be read",
         "set kernel.yama.ptrace_scope=1 in sysctl.d and boot: 3 stays until then"),
        ("kernel lockdown", {"lockdown": "none [confidentiality]"}, "confidentiality",
         "profiles: BPF programs may not read the kernel's memory",
         "boot with lockdown=integrity"),
        ("kernel lockdown", {"lockdown": "none"}, DISTRUSTED,
         "whether profiles may read the kernel is not known",
         "run `nemutator doctor` as root, outside of a container"),
        ("BTF", {"btf": DENIED}, "Permission denied", None, None),
        ("BTF", {"btf": False}, "empty", None, None),
        ("pid namespace", {"pid_namespace": DENIED}, "Permission denied",
         "whether profiles can be made is not known",
         "run `nemutator doctor` as root, outside of a container"),
    ],
)  # fmt: skip
def test_what_profiles_lack_and_what_helps(
    check: str, changed: dict[str, Any], found: str, lost: str | None, remedy: str | None
) -> None:
    finding = about(replace(machines.DEBIAN_12, **changed), check)
    assert (finding.state, finding.found) == (State.LIMITED, found)
    if lost is not None:
        assert (finding.lost, finding.remedy) == (lost, remedy)
