from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_ctl.doctor import profiles
from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.facts import DoctorFacts, Space, Unread
from nemutator_ctl.doctor.findings import CHECKS, examine

from tests.ctl.doctor import machines
from tests.ctl.doctor.machines import about

PROFILES = {check.name for check in profiles.CHECKS}

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
any_facts = st.builds(
    DoctorFacts,
    user=st.integers(0, 1 << 32),
    kernel=st.sampled_from(["4.18.0", "5.9", "6.1.0-18", ""]) | st.text(max_size=40),
    pidfd=st.just(True) | unread,
    peer_pidfd=st.booleans(),
    btf=st.booleans() | unread,
    libbpf=texts,
    bcc=st.booleans(),
    kernel_headers=st.booleans(),
    status=texts,
    uid_map=texts,
    mountinfo=texts,
    controllers=texts,
    pressure=texts,
    swaps=texts,
    pid_namespace=st.integers(0, 1 << 32) | unread,
    perf_event_paranoid=texts,
    perf_event_max_sample_rate=texts,
    kptr_restrict=texts,
    ptrace_scope=texts,
    lockdown=texts,
    open_files=st.none() | st.integers(0, 1 << 63),
    space=spaces | unread,
)


def states(facts: DoctorFacts, state: State) -> set[str]:
    return {finding.check for finding in examine(facts) if finding.state is state}


@given(any_facts)
def test_any_facts_give_one_finding_for_each_question(facts: DoctorFacts) -> None:
    findings = examine(facts)
    assert [finding.check for finding in findings] == [check.name for check in CHECKS]
    for finding in findings:
        well = finding.state is State.OK
        assert (finding.lost == "") == (finding.remedy == "") == well
        assert len(finding.found) <= 200


@given(any_facts)
def test_what_only_profiles_need_is_never_missing_and_says_so(facts: DoctorFacts) -> None:
    for finding in examine(facts):
        if finding.check in PROFILES and finding.state is not State.OK:
            assert finding.state is State.LIMITED
            assert "profiles" in finding.lost


def test_debian_12_as_root_has_everything() -> None:
    assert states(machines.DEBIAN_12, State.OK) == {check.name for check in CHECKS}


def test_an_ubuntu_desktop_has_what_is_needed_but_few_rights() -> None:
    facts = machines.UBUNTU_DESKTOP
    assert states(facts, State.MISSING) == set()
    assert states(facts, State.LIMITED) == {
        "capabilities",
        "swap",
    }
    rights = about(facts, "capabilities")
    assert rights.found == "user 1000: none of those that count"
    assert "sudo" in rights.remedy


def test_rhel_8_lacks_for_profiles_and_counts_by_version_1() -> None:
    facts = machines.RHEL_8
    assert states(facts, State.MISSING) == set()
    assert states(facts, State.LIMITED) == {
        "control groups",
        "kernel",
        "libbpf",
        "open file limit",
        "pressure (PSI)",
    }
    assert "5.8 or newer" in about(facts, "kernel").remedy
    assert about(facts, "control groups").found == "version 1: cpuacct, memory"


def test_a_container_without_sys_lacks_what_nemutator_needs() -> None:
    facts = machines.CONTAINER_WITHOUT_SYS
    assert states(facts, State.MISSING) == {"control groups", "pidfd"}
    # Its capabilities count in its own user namespace only.
    assert "capabilities" in states(facts, State.LIMITED)


def test_a_hybrid_vm_is_limited_by_its_control_groups_only() -> None:
    facts = machines.HYBRID_VM
    assert states(facts, State.MISSING) == set()
    assert states(facts, State.LIMITED) == {"control groups"}
    assert about(facts, "control groups").found == "hybrid: cpuacct, memory"


@pytest.mark.parametrize("facts", machines.MACHINES)
def test_nobody_is_told_to_give_all_rights_or_of_what_does_not_exist(facts: DoctorFacts) -> None:
    said = " ".join(f"{one.lost} {one.remedy}" for one in examine(facts))
    assert "SYS_ADMIN" not in said
    assert "ring buffer" not in said


def test_a_right_that_is_missing_is_named_once() -> None:
    facts = replace(
        machines.DEBIAN_12,
        user=1000,
        status=machines.NO_RIGHTS,
        kptr_restrict="1\n",
        ptrace_scope="1\n",
    )
    assert states(facts, State.LIMITED) == {"capabilities"}
    assert about(facts, "capabilities").remedy == names.AS_ROOT


def test_what_strangers_wrote_is_cut() -> None:
    facts = replace(machines.DEBIAN_12, libbpf="v" * 300)
    assert about(facts, "libbpf").found == "v" * 200
