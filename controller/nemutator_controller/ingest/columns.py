"""From a stranger's bytes to a batch of columns: heads are decoded, arrays are read where they lie, and
snapshots stay closed. All is checked on the arrays before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt
from nemutator_common.wire import Batch, Envelope, Report
from nemutator_common.wire_columns import (
    COLUMNS_FORM,
    MAGIC,
    MOST_SERIES,
    POINT_COLUMNS,
    PREFIX,
    RECORD_PREFIX,
    ColumnsHead,
    PackedReport,
    RecordHead,
    SeriesNames,
    arrays_size,
)

from nemutator_controller.access.callers import LONGEST_NAME
from nemutator_controller.ingest.batches import (
    FUTURE_S,
    LARGEST_NUMBER,
    LONGEST_PATH,
    MOST_ENVELOPES,
    MOST_SUMMARIES,
    RefusedBatchError,
    check,
    check_texts,
    decoded,
)

MOST_COLUMNS = 64
LARGEST_SNAPSHOT_BYTES = 2 << 20
"""The snapshot of a node with 5 000 processes has a tenth of that."""

MOST_NAMINGS = MOST_ENVELOPES
"""Of one body: a report has one."""
MOST_NAMES = 2 * MOST_SERIES
"""Of one body, in all its namings: those of two that are full, as after an outage."""

Numbers = npt.NDArray[np.float64]

_batch_head = msgspec.json.Decoder(ColumnsHead)
_record_head = msgspec.json.Decoder(RecordHead)


class UnknownFormError(Exception):
    """The body has a form that this brain does not take."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportedPoints:
    """The points of one report, as they lie in its bytes."""

    naming: int
    of: npt.NDArray[np.int32]
    from_at: Numbers
    to_at: Numbers
    columns: Mapping[str, Numbers]


@dataclass(frozen=True, slots=True)
class ColumnBatch(Batch):
    """A `Batch` whose reports have their machine alone: the rest of them is here."""

    names: tuple[SeriesNames, ...] = ()
    points: Mapping[int, ReportedPoints] = field(default_factory=dict)
    """By number of the report."""
    latest: PackedReport | None = None
    """The last report, to be shown."""


def decode_columns(body: bytes) -> ColumnBatch:
    """The batch in *body*; raises `RefusedBatchError`, or `UnknownFormError`."""
    if len(body) < PREFIX.size:
        raise RefusedBatchError("malformed", "columns: shorter than a prefix")
    magic, form, size = PREFIX.unpack_from(body)
    if magic != MAGIC or form != COLUMNS_FORM:
        raise UnknownFormError
    at = PREFIX.size + size
    head = decoded(_batch_head, body[PREFIX.size : at])
    if len(head.records) > MOST_ENVELOPES:
        raise RefusedBatchError("bounds", f"records: at most {MOST_ENVELOPES} are taken")
    if len(head.names) > MOST_NAMINGS or sum(len(one.names) for one in head.names) > MOST_NAMES:
        raise RefusedBatchError("bounds", f"names: at most {MOST_NAMES} are taken at once")
    sizes = [place.size for place in head.records]
    if min(sizes, default=0) < 0 or at + sum(sizes) != len(body):
        raise RefusedBatchError("malformed", "columns: records are not as long as they say")
    envelopes, points, latest = [], {}, None
    for place in head.records:
        latest, found = _record(memoryview(body)[at : at + place.size])
        at += place.size
        envelopes.append(Envelope(place.seq, _report(latest.head)))
        points[place.seq] = found
    return ColumnBatch(head.node, head.epoch, tuple(envelopes), head.names, points, latest)


def check_columns(batch: ColumnBatch, *, now: float) -> None:
    """Refuse *batch* unless all of it but its snapshots is within bounds."""
    check(batch, now=now)
    for names in batch.names:
        _check_names(names)
    for points in batch.points.values():
        _check_points(points, now=now)


def _record(record: memoryview) -> tuple[PackedReport, ReportedPoints]:
    if len(record) < RECORD_PREFIX.size:
        raise RefusedBatchError("malformed", "columns: a record is shorter than its prefix")
    at = RECORD_PREFIX.size + RECORD_PREFIX.unpack_from(record)[0]
    head = decoded(_record_head, bytes(record[RECORD_PREFIX.size : at]))
    counts = head.points, head.snapshot, head.workloads, head.processes, head.missing
    if min(counts) < 0 or max(counts) > LARGEST_NUMBER:
        raise RefusedBatchError("number", "columns: a count is out of range")
    if head.points > MOST_SUMMARIES or len(head.columns) > MOST_COLUMNS:
        raise RefusedBatchError("bounds", f"points: at most {MOST_SUMMARIES} are taken")
    if head.snapshot > LARGEST_SNAPSHOT_BYTES:
        raise RefusedBatchError(
            "bounds", f"snapshot: at most {LARGEST_SNAPSHOT_BYTES} bytes are taken"
        )
    if len(set(head.columns)) < len(head.columns):
        raise RefusedBatchError("bounds", "columns: the same one twice")
    if at + arrays_size(head) + head.snapshot != len(record):
        raise RefusedBatchError("malformed", "columns: a record is not as long as it says")
    count = head.points
    # A copy, so that what is kept for a moment does not hold the whole body.
    of = np.frombuffer(record, dtype="<i4", count=count, offset=at).astype(np.int32)
    at += of.nbytes
    numbers = np.frombuffer(record, "<f8", count * (2 + len(head.columns)), at).astype(np.float64)
    rows = numbers.reshape(2 + len(head.columns), count)
    at += numbers.nbytes
    # Those of a newer version are left out, as unknown fields are.
    named = zip(head.columns, rows[2:], strict=True)
    columns = {name: column for name, column in named if name in POINT_COLUMNS}
    found = ReportedPoints(head.naming, of, rows[0], rows[1], columns)
    return PackedReport(head, bytes(record[at:])), found


def _report(head: RecordHead) -> Report:
    return Report(
        taken_at=head.taken_at,
        machine=head.machine,
        workloads=(),
        processes=(),
        missing=(),
        flows=head.flows,
    )


def _check_names(named: SeriesNames) -> None:
    if not 0 <= named.naming <= LARGEST_NUMBER or named.first < 0:
        raise RefusedBatchError("number", "names: expected numbers from zero on")
    if named.first + len(named.names) > MOST_SERIES:
        raise RefusedBatchError("bounds", f"names: at most {MOST_SERIES} series are told apart")
    columns: list[Sequence[str | None]] = list(zip(*named.names, strict=True))
    for number, texts in enumerate(columns):
        longest = LONGEST_PATH if number == 0 else LONGEST_NAME
        check_texts("name of a series", longest, [text for text in texts if text is not None])


def _check_points(points: ReportedPoints, *, now: float) -> None:
    if not len(points.of):
        return
    if points.of.min() < 0:
        raise RefusedBatchError("number", "points: a series below zero")
    if not (_in_range(points.from_at) and _in_range(points.to_at)):
        raise RefusedBatchError("number", "points: a time is out of range")
    if (points.from_at > points.to_at).any() or points.to_at.max() > now + FUTURE_S:
        raise RefusedBatchError("future", "points: one ends before it begins, or ahead of time")
    for name, column in points.columns.items():
        if not (_in_range(column) or _in_range(column[~np.isnan(column)])):
            raise RefusedBatchError("number", f"{name}: a number is out of range")


def _in_range(numbers: Numbers) -> bool:
    """Of NaN both comparisons are false."""
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() <= LARGEST_NUMBER)
