import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.cpu_time import (
    parse_cpu_stat,
    parse_cpuacct_usage,
    parse_process_cpu,
    parse_process_image,
    parse_process_start,
    spent,
)


def test_version_2_counts_microseconds() -> None:
    assert parse_cpu_stat(b"usage_usec 2500000\nuser_usec 1\nsystem_usec 2\n") == 2.5


def test_version_1_counts_nanoseconds() -> None:
    assert parse_cpuacct_usage(b"1500000000\n") == 1.5


def test_a_process_counts_both_modes_whatever_it_calls_itself() -> None:
    stat = b"7 (a) R 1 (\n) S 1 1 1 0 -1 4194560 1 1 1 1 250 50 9 9 20 0 1 0 100 1 1"
    assert parse_process_cpu(stat, ticks_per_s=100) == 3.0
    assert parse_process_start(stat) == 100
    assert parse_process_image(stat) == 0
    assert parse_process_image(stat + b" 0 0 0 140723 0") == 140723


@pytest.mark.parametrize("content", [b"", b"usage_usec x\n", b"-1\n", b"7 (x) R 1 2 3", b"7 (x"])
def test_what_cannot_be_read_is_no_number(content: bytes) -> None:
    assert parse_cpu_stat(content) is None
    assert parse_cpuacct_usage(content) is None
    assert parse_process_cpu(content, ticks_per_s=100) is None
    assert parse_process_start(content) is None


@given(st.binary(max_size=300))
def test_any_bytes_give_time_or_none(content: bytes) -> None:
    for seconds in (
        parse_cpu_stat(content),
        parse_cpuacct_usage(content),
        parse_process_cpu(content, ticks_per_s=100),
        parse_process_start(content),
    ):
        assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("before", "after", "between"),
    [(1.0, 3.5, 2.5), (1.0, 1.0, 0.0), (None, 1.0, None), (1.0, None, None), (2.0, 1.0, None)],
)
def test_what_was_spent_is_known_from_two_looks(
    before: float | None, after: float | None, between: float | None
) -> None:
    assert spent(before, after) == between
