from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.activity_files import MovedBytes, Throttling
from nemutator_agent.usage.group_activity import (
    ActivityCounters,
    ActivityFiles,
    activity_between,
)
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_common.wire_activity import Activity

V2 = Hierarchy(2, frozenset(), "/u", "/")
CPU = Hierarchy(1, frozenset({"cpu", "cpuacct"}), "/c", "/")
MEMORY = Hierarchy(1, frozenset({"memory"}), "/m", "/")
PIDS = Hierarchy(1, frozenset({"pids"}), "/p", "/")
BLKIO = Hierarchy(1, frozenset({"blkio"}), "/b", "/")
UNIFIED = {
    "/u/a/cpu.stat": b"usage_usec 1\nnr_periods 10\nnr_throttled 5\nthrottled_usec 9\n",
    "/u/a/memory.events": b"low 0\nhigh 0\nmax 4\noom 2\noom_kill 3\noom_group_kill 0\n",
    "/u/a/pids.current": b"12\n",
    "/u/a/io.stat": b"8:0 rbytes=100 wbytes=200 rios=1 wios=1\n",
}
LEGACY = {
    "/c/a/cpu.stat": b"nr_periods 10\nnr_throttled 5\nthrottled_time 9000\n",
    "/m/a/memory.oom_control": b"oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
    "/p/a/pids.current": b"12\n",
    "/b/a/blkio.throttle.io_service_bytes_recursive": b"8:0 Read 100\n8:0 Write 200\nTotal 300\n",
}
EXPECTED = ActivityCounters(1.0, Throttling(10, 5, 9), 3, 12, MovedBytes(100, 200))


def read(texts: Mapping[str, bytes], *hierarchies: Hierarchy) -> ActivityCounters:
    return ActivityFiles(texts.get, {b"8:0"}).counters("/a", hierarchies, 1.0)


def test_all_is_found_in_both_versions_and_on_hybrid_machines() -> None:
    assert read(UNIFIED, V2) == EXPECTED
    legacy = (CPU, MEMORY, PIDS, BLKIO)
    assert read(LEGACY, *legacy) == EXPECTED
    # A hybrid machine has files of the same names in its version 2, without the controllers.
    hybrid = LEGACY | {"/u/a/cpu.stat": b"usage_usec 1\n"}
    assert read(hybrid, V2, *legacy) == EXPECTED
    assert read({**UNIFIED, **LEGACY}, V2, MEMORY) == EXPECTED


def test_what_is_not_there_is_not_zero() -> None:
    assert read({}, V2) == ActivityCounters(1.0, None, None, None, None)
    assert read({}) == ActivityCounters(1.0, None, None, None, None)
    garbage = dict.fromkeys(UNIFIED, b"\xff\x00 garbage")
    assert read(garbage, V2) == ActivityCounters(1.0, None, None, None, MovedBytes(0, 0))


@pytest.mark.parametrize(
    ("of_all", "moved"),
    [
        (b"Total 0\n", None),
        (b"8:0 Read 9\n8:0 Total 9\nTotal 9\n", MovedBytes(0, 0)),
        # Another disk than those that are reported: the kernel counts.
        (b"7:0 Read 9\nTotal 9\n", MovedBytes(0, 0)),
    ],
)
def test_a_kernel_that_counts_no_disks_has_not_counted_zero(
    of_all: bytes, moved: MovedBytes | None
) -> None:
    name = "blkio.throttle.io_service_bytes_recursive"
    texts = {f"/b/a/{name}": b"Total 0\n", f"/b/{name}": of_all}
    assert read(texts, BLKIO).moved == moved


def test_a_kernel_that_begins_to_count_disks_is_believed_from_then_on() -> None:
    name = "blkio.throttle.io_service_bytes_recursive"
    texts = {f"/b/a/{name}": b"Total 0\n", f"/b/{name}": b"Total 0\n"}
    files = ActivityFiles(texts.get, {b"8:0"})
    assert files.counters("/a", (BLKIO,), 1.0).moved is None
    texts[f"/b/{name}"] = b"8:0 Write 5\nTotal 5\n"
    assert files.counters("/a", (BLKIO,), 2.0).moved == MovedBytes(0, 0)
    del texts[f"/b/{name}"]
    assert files.counters("/a", (BLKIO,), 3.0).moved == MovedBytes(0, 0)


def test_of_a_part_of_the_hierarchy_nothing_is_concluded() -> None:
    part = Hierarchy(1, frozenset({"blkio"}), "/b", "/docker/x")
    texts = {"/b/a/blkio.throttle.io_service_bytes_recursive": b"Total 0\n"}
    found = ActivityFiles(texts.get, {b"8:0"}).counters("/docker/x/a", (part,), 1.0)
    assert found.moved == MovedBytes(0, 0)


def at(second: float, *numbers: int) -> ActivityCounters:
    periods, throttled, us, kills, read_bytes, written = numbers
    moved = MovedBytes(read_bytes, written)
    return ActivityCounters(second, Throttling(periods, throttled, us), kills, 1, moved)


def test_rates_are_of_the_time_between() -> None:
    found = activity_between(at(0.0, 0, 0, 0, 1, 0, 0), at(10.0, 100, 25, 5_000_000, 2, 40, 10))
    assert found == Activity(
        throttled=0.25, throttled_s=0.5, oom_kills=2, pids=1, disk_read=4.0, disk_written=1.0
    )


def test_one_reading_has_no_rates() -> None:
    found = activity_between(None, at(10.0, 100, 25, 5, 2, 40, 10))
    assert found == Activity(oom_kills=2, pids=1)


def test_a_group_without_a_limit_was_never_stopped() -> None:
    assert activity_between(at(0, 0, 0, 0, 0, 0, 0), at(1, 0, 0, 0, 0, 0, 0)).throttled == 0.0


@pytest.mark.parametrize("after", [at(9, 1, 9, 9, 9, 0, 0), at(0, 9, 9, 9, 9, 9, 9)])
def test_counters_that_went_back_or_no_time_give_no_rate(after: ActivityCounters) -> None:
    found = activity_between(at(0, 5, 5, 5, 5, 5, 5), after)
    assert (found.throttled, found.disk_read, found.disk_written) == (None, None, None)


numbers = st.integers(0, 2**63)


@given(st.tuples(*[numbers] * 6), st.tuples(*[numbers] * 6), st.floats(-10, 1e6))
def test_no_rate_is_negative_and_no_share_more_than_all(
    old: tuple[int, ...], new: tuple[int, ...], elapsed_s: float
) -> None:
    found = activity_between(at(0.0, *old), at(elapsed_s, *new))
    for one in (found.throttled_s, found.disk_read, found.disk_written):
        assert one is None or one >= 0
    assert found.throttled is None or 0 <= found.throttled <= 1
