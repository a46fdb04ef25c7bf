import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.activity_files import (
    parse_blkio,
    parse_io_stat,
    parse_run_delay_ns,
    parse_throttling,
)
from nemutator_agent.usage.malformed import MalformedError

CPU_V2 = b"""usage_usec 33
user_usec 22
system_usec 11
nr_periods 100
nr_throttled 25
throttled_usec 7000
nr_bursts 0
burst_usec 0
"""
IO_STAT = b"""253:0 rbytes=1000 wbytes=2000 rios=1 wios=2 dbytes=0 dios=0
252:0 rbytes=300 wbytes=400 rios=1 wios=2 dbytes=9 dios=1 cost.vrate=100.00
7:1
"""
BLKIO = b"""252:0 Read 300
252:0 Write 400
252:0 Sync 0
252:0 Async 700
252:0 Discard 5
252:0 Total 705
253:0 Read 1000
Total 705
"""


def test_throttling_of_both_versions_is_in_microseconds() -> None:
    assert parse_throttling(CPU_V2, version=2) == (100, 25, 7000)
    legacy = b"nr_periods 100\nnr_throttled 25\nthrottled_time 7000999\n"
    assert parse_throttling(legacy, version=1) == (100, 25, 7000)


@pytest.mark.parametrize("content", [b"", b"usage_usec 1\n", b"nr_periods x\n", b"nr_periods -1\n"])
def test_a_group_without_the_controller_has_no_periods(content: bytes) -> None:
    with pytest.raises(MalformedError):
        parse_throttling(content, version=2)


def test_what_goes_through_a_volume_to_a_disk_counts_once() -> None:
    assert parse_io_stat(IO_STAT, {b"252:0"}) == (300, 400)
    assert parse_io_stat(IO_STAT, {b"252:0", b"7:1"}) == (300, 400)
    assert parse_io_stat(IO_STAT, ()) == (0, 0)
    assert parse_blkio(BLKIO, {b"252:0"}) == (300, 400)


def test_of_a_thread_the_time_that_it_waited() -> None:
    assert parse_run_delay_ns(b"1221228 124434 2\n") == 124434


@given(st.binary(max_size=300))
def test_any_bytes_are_numbers_or_malformed(content: bytes) -> None:
    for parse in (
        lambda: parse_throttling(content, version=1),
        lambda: parse_io_stat(content, {b"8:0"}),
        lambda: parse_blkio(b"8:0 Read " + content, {b"8:0"}),
        lambda: parse_run_delay_ns(content),
    ):
        with contextlib.suppress(MalformedError):
            found = parse()
            assert all(number >= 0 for number in (found if isinstance(found, tuple) else (found,)))
