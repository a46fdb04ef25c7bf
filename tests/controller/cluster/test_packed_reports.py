import json
import zlib
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import LARGEST_BATCH_BYTES, Report
from nemutator_controller.cluster.packed_reports import (
    UnreadableReportError,
    pack,
    unpack,
    unpack_part,
)
from nemutator_controller.ingest.batches import MOST_PROCESSES

from tests.fakes.batches import busy_report, process, workload

PATHS = tuple(f"/a.slice/{number}" for number in range(5))
REPORT = replace(
    busy_report(),
    workloads=tuple(workload(path) for path in PATHS),
    processes=tuple(process(pid, of=PATHS[pid % 5]) for pid in range(1, 12)),
)


def test_a_report_is_kept_small_and_comes_back_whole() -> None:
    report = busy_report(workloads=100, processes=100)
    packed = pack(report)
    assert unpack(packed) == report
    assert len(packed) < len(msgspec.json.encode(report)) / 5


@given(st.sets(st.sampled_from(PATHS)))
def test_a_part_is_what_the_whole_has_of_it(paths: set[str]) -> None:
    part = unpack_part(pack(REPORT), lambda several: [one.path in paths for one in several])
    whole = unpack(pack(REPORT))
    assert part == replace(
        whole,
        workloads=tuple(one for one in whole.workloads if one.path in paths),
        processes=tuple(one for one in whole.processes if one.workload in paths),
    )


BROKEN = [b"", b"x", zlib.compress(b"{}"), pack(busy_report())[:-9]]


@pytest.mark.parametrize("packed", BROKEN)
def test_what_is_no_report_is_said_to_be_none(packed: bytes) -> None:
    with pytest.raises(UnreadableReportError):
        unpack(packed)
    with pytest.raises(UnreadableReportError):
        unpack_part(packed, lambda several: [True] * len(several))


def broken(path: str) -> bytes:
    """`REPORT` where the workload *path* is not as it should be."""
    document = json.loads(msgspec.json.encode(REPORT))
    [one] = [one for one in document["workloads"] if one["path"] == path]
    one["cpu_cores"] = -1
    return zlib.compress(json.dumps(document).encode())


def test_what_is_wrong_with_a_part_is_found_where_that_is_wanted() -> None:
    def first(several: object) -> list[bool]:
        return [True, False, False, False, False]

    assert unpack_part(broken(PATHS[1]), first).workloads == (workload(PATHS[0]),)
    with pytest.raises(UnreadableReportError, match="out of range"):
        unpack_part(broken(PATHS[0]), first)


def test_of_very_many_processes_none_is_opened() -> None:
    document = json.loads(msgspec.json.encode(REPORT))
    document["processes"] = [{"workload": "/"}] * (MOST_PROCESSES + 1)
    packed = zlib.compress(json.dumps(document).encode())
    with pytest.raises(UnreadableReportError, match="more workloads or processes"):
        unpack_part(packed, lambda several: [False] * len(several))


def test_a_snapshot_that_grows_beyond_all_bounds_is_not_read() -> None:
    packed = zlib.compress(b" " * (LARGEST_BATCH_BYTES + 1))
    with pytest.raises(UnreadableReportError, match="longer than"):
        unpack(packed)
    with pytest.raises(UnreadableReportError, match="longer than"):
        unpack_part(packed, lambda several: [False] * len(several))


def test_a_part_has_no_more_of_a_report_than_is_shown() -> None:
    report: Report = replace(REPORT, taken_at=5.0)
    part = unpack_part(pack(report), lambda several: [False] * len(several))
    assert part == replace(report, workloads=(), processes=(), summaries=(), flows=())
