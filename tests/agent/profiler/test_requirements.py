import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.requirements import (
    INITIAL_PID_NAMESPACE,
    LOCKED_BYTES,
    EngineChoice,
    SamplerFacts,
    engine,
    lacking,
    missing,
    no_perf_events,
    parse_capabilities,
)

BPF_AND_PERFMON = (1 << 38) | (1 << 39)
GOOD = SamplerFacts(
    release="6.1.0-38-amd64",
    processor="x86_64",
    btf=True,
    locked_bytes=-1,
    capabilities=BPF_AND_PERFMON,
    pid_namespace=INITIAL_PID_NAMESPACE,
)
OLD = dataclasses.replace(GOOD, release="5.10.0-30-amd64")


@pytest.mark.parametrize(
    ("release", "capabilities"),
    [("5.8.0", BPF_AND_PERFMON), ("6.18.44-fc", 1 << 21), ("10.0", BPF_AND_PERFMON)],
)
def test_nothing_is_missing_where_the_least_is_there(release: str, capabilities: int) -> None:
    assert missing(dataclasses.replace(GOOD, release=release, capabilities=capabilities)) is None


@pytest.mark.parametrize(
    ("facts", "reason", "said"),
    [
        (dataclasses.replace(GOOD, release="5.7.19"), "kernel", "5.7.19 is too old"),
        (dataclasses.replace(GOOD, release="4.18.0-553.el8"), "kernel", "5.8 or newer"),
        (dataclasses.replace(GOOD, processor="riscv64"), "kernel", "x86_64 or aarch64"),
        (dataclasses.replace(OLD, locked_bytes=64 << 10), "rights", "lock 64 KiB; give it CAP_SYS"),
        (dataclasses.replace(OLD, locked_bytes=LOCKED_BYTES - 1), "rights", "needs 16 MiB"),
        (dataclasses.replace(GOOD, btf=False), "kernel", "CONFIG_DEBUG_INFO_BTF"),
        (dataclasses.replace(GOOD, capabilities=0), "rights", "lacks CAP_BPF and CAP_PERFMON"),
        (dataclasses.replace(GOOD, capabilities=1 << 39), "rights", "lacks CAP_PERFMON;"),
        (dataclasses.replace(GOOD, capabilities=1 << 38), "rights", "lacks CAP_BPF;"),
        (dataclasses.replace(GOOD, pid_namespace=4026532177), "rights", "hostPID"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    facts: SamplerFacts, reason: str, said: str
) -> None:
    refusal = missing(facts)
    assert refusal is not None
    assert refusal.reason == reason
    assert said in str(refusal)


@pytest.mark.parametrize(
    "facts",
    [
        dataclasses.replace(GOOD, processor="aarch64"),
        OLD,
        dataclasses.replace(OLD, locked_bytes=LOCKED_BYTES),
        dataclasses.replace(OLD, locked_bytes=0, capabilities=BPF_AND_PERFMON | 1 << 24),
        dataclasses.replace(OLD, locked_bytes=0, release="5.11.0"),
    ],
)
def test_nothing_more_is_asked_for_than_is_needed(facts: SamplerFacts) -> None:
    assert missing(facts) is None


def test_a_release_that_nobody_understands_is_tried() -> None:
    assert missing(dataclasses.replace(GOOD, release="custom")) is None


@pytest.mark.parametrize(
    ("paranoid", "said"),
    [(2, "CAP_BPF and CAP_PERFMON"), (3, "is 3; sysctl kernel.perf_event_paranoid=2 on the node")],
)
def test_a_setting_that_the_rights_do_not_suffice_for_is_named(paranoid: int, said: str) -> None:
    refusal = no_perf_events(paranoid)
    assert refusal.reason == "rights"
    assert said in str(refusal)


def test_capabilities_are_those_in_effect() -> None:
    status = b"Name:\tx\nCapPrm:\t0000000000000001\nCapEff:\t000001fffeffffff\nCapBnd:\t0\n"
    assert parse_capabilities(status) == 0x1FFFEFFFFFF


def test_a_status_without_capabilities_has_none() -> None:
    assert parse_capabilities(b"Name:\tx\n") == 0


def test_what_stood_for_both_rights_leaves_none_to_name() -> None:
    assert lacking(1 << 21) == lacking(BPF_AND_PERFMON) == ()
    assert lacking(0) == ("CAP_BPF", "CAP_PERFMON")


@given(st.binary(max_size=200))
def test_any_status_gives_a_number(status: bytes) -> None:
    assert parse_capabilities(status) >= 0


@pytest.mark.parametrize("choice", ["auto", "libbpf", "bcc"])
@pytest.mark.parametrize("btf", [False, True])
@pytest.mark.parametrize("bcc", [False, True])
@pytest.mark.parametrize("headers", [False, True])
def test_bcc_samples_where_it_is_chosen_or_has_what_libbpf_lacks(
    choice: EngineChoice, btf: bool, bcc: bool, headers: bool
) -> None:
    facts = dataclasses.replace(GOOD, choice=choice, btf=btf, bcc=bcc, headers=headers)
    can = {"libbpf": btf, "bcc": bcc and headers}
    if choice == "auto":
        assert engine(facts) == ("bcc" if can["bcc"] and not btf else "libbpf")
    else:
        assert engine(facts) == choice
    assert (missing(facts) is None) is can[engine(facts)]


def test_what_bcc_lacks_is_named_with_what_helps() -> None:
    facts = dataclasses.replace(GOOD, choice="bcc", headers=True)
    assert "python3-bpfcc are not" in str(missing(facts))
    facts = dataclasses.replace(facts, headers=False)
    assert "python3-bpfcc and the kernel's headers are not installed" in str(missing(facts))
    assert "linux-headers-$(uname -r)" in str(missing(facts))
    facts = dataclasses.replace(facts, choice="auto", btf=False)
    assert "python3-bpfcc" in str(missing(facts))
