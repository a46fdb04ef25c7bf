from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts, Use
from nemutator_controller.sizing.runtime_remarks import (
    GO_SHARE,
    RuntimeLimits,
    limits_of,
    runtime_remarks,
)

MIB = 1 << 20


def advice(
    *,
    cpu: str | None = "250m",
    memory: str | None = "512Mi",
    peak: int = 300 * MIB,
    p95: float = 0.2,
) -> Advice:
    return Advice(
        namespace="shop",
        owner_kind="Deployment",
        owner="cart",
        container="app",
        strategy="nemutator",
        state="firm",
        reason="",
        points=100,
        span_s=1.0,
        last_at=1.0,
        use=Use(cpu_p50=p95, cpu_p95=p95, memory_p95=peak, memory_max=peak),
        requests_now=RecommendedAmounts(),
        requests=RecommendedAmounts(cpu=cpu, memory=memory),
        limits=RecommendedAmounts(memory=memory),
    )


@pytest.mark.parametrize(
    ("flags", "changed", "said"),
    [
        (("GOMEMLIMIT=2GiB",), {}, "GOMEMLIMIT allows 2048MiB, and 512MiB are advised"),
        (("GOMEMLIMIT=2GiB",), {}, "set GOMEMLIMIT to 460MiB"),
        (("GOMEMLIMIT=320MiB",), {}, "its peak of 300MiB is what GOMEMLIMIT allows (320MiB)"),
        (("-Xmx1g",), {}, "set -Xmx to 384MiB"),
        (("-Xmx320m",), {}, "try a smaller -Xmx"),
        (("-XX:MaxHeapSize=1g",), {}, "-Xmx allows 1024MiB"),
        (("-XX:MaxRAMPercentage=75",), {}, "75 % of the memory limit"),
        (("GOMAXPROCS=1",), {"p95": 0.97}, "it uses all of GOMAXPROCS=1"),
        (("GOMAXPROCS=64",), {}, "64 threads at once where 250m of CPU are advised"),
        (("-XX:ActiveProcessorCount=32",), {"cpu": "2"}, "set it to 2 or 2 times that"),
    ],
)
def test_what_does_not_fit_is_said_with_a_remedy(
    flags: tuple[str, ...], changed: dict[str, Any], said: str
) -> None:
    [remark] = runtime_remarks(advice(**changed), flags)
    assert said in remark


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("GOMEMLIMIT=400MiB",),
        ("GOMEMLIMIT=off",),
        ("-Xmx380m", "-XX:MaxRAMPercentage=75"),
        ("GOMAXPROCS=2",),
        ("GOMAXPROCS=0", "-Xmx0"),
    ],
)
def test_of_what_fits_nothing_is_said(flags: tuple[str, ...]) -> None:
    assert runtime_remarks(advice(), flags) == []


def test_without_an_amount_only_what_was_used_counts() -> None:
    nothing = advice(cpu=None, memory=None)
    assert runtime_remarks(nothing, ("GOMEMLIMIT=2GiB", "GOMAXPROCS=64")) == []
    [remark] = runtime_remarks(nothing, ("-Xmx310m",))
    assert "try a smaller -Xmx" in remark


@given(st.integers(1, 10**6), st.sampled_from(["k", "K", "m", "M", "g", "G", "t", "T", ""]))
def test_sizes_are_read_as_their_languages_read_them(number: int, unit: str) -> None:
    times = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[unit.upper()]
    assert limits_of([f"-Xmx{number}{unit}"]).java_heap == number * times
    word = f"{unit.upper()}iB" if unit else "B"
    assert limits_of([f"GOMEMLIMIT={number}{word}"]).go_memory == number * times


@given(st.integers(1, 1 << 45), st.integers(10 * MIB, 1 << 40), st.integers(0, 1 << 40))
def test_a_limit_that_would_be_killed_is_always_told_and_the_remedy_is_none(
    allowed: int, most: int, peak: int
) -> None:
    one = advice(memory=str(most), peak=peak)
    remarks = runtime_remarks(one, [f"GOMEMLIMIT={allowed}B"])
    assert any("would be killed" in each for each in remarks) == (allowed > most * GO_SHARE)
    remedy = int(most * GO_SHARE // MIB)
    again = runtime_remarks(advice(memory=str(most), peak=0), [f"GOMEMLIMIT={remedy}MiB"])
    assert again == [] or remedy == 0


@given(st.lists(st.text(max_size=40), max_size=10))
def test_whatever_flags_say_is_no_failure(flags: list[str]) -> None:
    assert isinstance(limits_of(flags), RuntimeLimits)
    runtime_remarks(advice(), flags)
