from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.doctor.facts import Facts, OpenFiles, Space, Unread
from nemutator_ctl.doctor.findings import Finding, Question, State, examine

from tests.ctl.doctor import machines

PROFILES = {
    one for one in Question if "profiles" in one.purpose and one is not Question.CAPABILITIES
}

unread = st.builds(Unread, st.text(max_size=40), st.booleans())
words = st.sampled_from(
    [
        "0",
        "1",
        "2",
        "3",
        "-1",
        "99",
        "CapEff:\t00",
        "some x",
        "[confidentiality]",
        "Filename\nx",
        machines.V1_MOUNTS,
        machines.V2_MOUNTS,
        machines.ALL_RIGHTS,
        machines.NO_RIGHTS,
        "memory",
    ]
)
texts = words | st.text(max_size=60) | unread
spaces = st.builds(
    Space,
    path=st.text(max_size=300),
    exists=st.booleans(),
    usable=st.booleans(),
    read_only=st.booleans(),
    free_bytes=st.integers(0, 1 << 63),
)
limits = st.builds(OpenFiles, hard=st.none() | st.integers(0, 1 << 63))
any_facts = st.builds(
    Facts,
    user=st.integers(0, 1 << 32),
    kernel=st.sampled_from(["4.18.0", "5.9", "6.1.0-18", ""]) | st.text(max_size=40),
    pidfd=st.just(True) | unread,
    btf=st.booleans() | unread,
    libbpf=texts,
    status=texts,
    uid_map=texts,
    mountinfo=texts,
    controllers=texts,
    pressure=texts,
    swaps=texts,
    perf_event_paranoid=texts,
    perf_event_max_sample_rate=texts,
    kptr_restrict=texts,
    unprivileged_bpf_disabled=texts,
    ptrace_scope=texts,
    lockdown=texts,
    open_files=limits | unread,
    space=spaces | unread,
)


def states(facts: Facts, state: State) -> set[Question]:
    return {finding.question for finding in examine(facts) if finding.state is state}


def about(facts: Facts, question: Question) -> Finding:
    return next(finding for finding in examine(facts) if finding.question is question)


@given(any_facts)
def test_any_facts_give_one_finding_for_each_question(facts: Facts) -> None:
    findings = examine(facts)
    assert [finding.question for finding in findings] == list(Question)
    for finding in findings:
        well = finding.state is State.OK
        assert (finding.lost == "") == (finding.remedy == "") == well
        assert len(finding.found) <= 200


@given(any_facts)
def test_what_only_profiles_need_is_never_missing_and_says_so(facts: Facts) -> None:
    for finding in examine(facts):
        if finding.question in PROFILES and finding.state is not State.OK:
            assert finding.state is State.LIMITED
            assert "profiles" in finding.lost


def test_debian_12_as_root_has_everything() -> None:
    assert states(machines.DEBIAN_12, State.OK) == {*Question}


def test_an_ubuntu_desktop_has_what_is_needed_but_few_rights() -> None:
    facts = machines.UBUNTU_DESKTOP
    assert states(facts, State.MISSING) == set()
    assert states(facts, State.LIMITED) == {
        Question.BPF,
        Question.CAPABILITIES,
        Question.KPTR,
        Question.PARANOID,
        Question.PTRACE,
        Question.SWAP,
    }
    rights = about(facts, Question.CAPABILITIES)
    assert rights.found == "user 1000: none of those that count"
    assert "sudo" in rights.remedy
    assert "CAP_SYS_PTRACE" in rights.remedy


def test_rhel_8_lacks_for_profiles_and_counts_by_version_1() -> None:
    facts = machines.RHEL_8
    assert states(facts, State.MISSING) == set()
    assert states(facts, State.LIMITED) == {
        Question.CGROUPS,
        Question.KERNEL,
        Question.LIBBPF,
        Question.OPEN_FILES,
        Question.PRESSURE,
    }
    assert "ring buffer" in about(facts, Question.KERNEL).lost
    assert about(facts, Question.CGROUPS).found == "version 1: cpuacct, memory"


def test_a_container_without_sys_lacks_what_nemutator_needs() -> None:
    facts = machines.CONTAINER_WITHOUT_SYS
    assert states(facts, State.MISSING) == {Question.CGROUPS, Question.PIDFD}
    # Its capabilities count in its own user namespace only.
    assert {Question.CAPABILITIES, Question.PARANOID, Question.BPF} <= states(facts, State.LIMITED)


def test_a_hybrid_vm_is_limited_by_its_control_groups_only() -> None:
    facts = machines.HYBRID_VM
    assert states(facts, State.MISSING) == set()
    assert states(facts, State.LIMITED) == {Question.CGROUPS}
    assert about(facts, Question.CGROUPS).found == "hybrid: cpuacct, memory"


def test_locked_memory_counts_on_kernels_before_5_11_only() -> None:
    without = replace(machines.DEBIAN_12, status="CapEff:\t000001fffeffffff\n")
    assert about(without, Question.CAPABILITIES).state is State.OK
    older = replace(without, kernel="5.10.0-28-amd64")
    assert "locked memory" in about(older, Question.CAPABILITIES).lost


@pytest.mark.parametrize(
    ("free_bytes", "state"),
    [(0, State.MISSING), (100 << 20, State.LIMITED), (1 << 30, State.OK)],
)
def test_space_is_judged_by_how_far_a_database_grows(free_bytes: int, state: State) -> None:
    space = Space(path="/d", exists=True, usable=True, read_only=False, free_bytes=free_bytes)
    assert about(replace(machines.DEBIAN_12, space=space), Question.SPACE).state is state


@pytest.mark.parametrize(("usable", "read_only"), [(False, False), (True, True)])
def test_a_directory_that_up_refuses_is_missing(usable: bool, read_only: bool) -> None:
    space = Space(path="/d", exists=True, usable=usable, read_only=read_only, free_bytes=1 << 40)
    assert about(replace(machines.DEBIAN_12, space=space), Question.SPACE).state is State.MISSING


def test_hidepid_hides_from_ordinary_users_only() -> None:
    hiding = machines.V2_MOUNTS.replace("proc proc rw", "proc proc rw,hidepid=invisible")
    root = replace(machines.DEBIAN_12, mountinfo=hiding)
    person = replace(machines.UBUNTU_DESKTOP, mountinfo=hiding)
    assert about(root, Question.PROCESSES).state is State.OK
    assert about(person, Question.PROCESSES).state is State.LIMITED


def test_the_last_ptrace_scope_leaves_nobody_a_way() -> None:
    facts = replace(machines.DEBIAN_12, ptrace_scope="3\n")
    assert "no process" in about(facts, Question.PTRACE).lost
    assert about(replace(facts, ptrace_scope="2\n"), Question.PTRACE).state is State.OK


def test_confidentiality_keeps_programs_from_the_kernel() -> None:
    facts = replace(machines.DEBIAN_12, lockdown="none integrity [confidentiality]\n")
    assert about(facts, Question.LOCKDOWN).state is State.LIMITED


def test_names_of_kernel_functions_need_a_right_or_openness() -> None:
    person = replace(machines.UBUNTU_DESKTOP, kptr_restrict="0", perf_event_paranoid="1")
    assert about(person, Question.KPTR).state is State.OK
    hidden = replace(machines.DEBIAN_12, kptr_restrict="2")
    assert about(hidden, Question.KPTR).state is State.LIMITED
