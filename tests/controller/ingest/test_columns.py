import contextlib
import zlib
from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import Ack, Report, Summary
from nemutator_common.wire_columns import (
    COLUMNS_FORM,
    MAGIC,
    MOST_SERIES,
    PREFIX,
    RECORD_PREFIX,
    ColumnsHead,
    RecordHead,
    RecordPlace,
    SeriesName,
    SeriesNames,
    arrays_size,
)
from nemutator_controller.ingest.batches import FUTURE_S, MOST_SUMMARIES, RefusedBatchError
from nemutator_controller.ingest.columns import (
    LARGEST_SNAPSHOT_BYTES,
    MOST_COLUMNS,
    MOST_NAMINGS,
    ColumnBatch,
    UnknownFormError,
    check_columns,
    decode_columns,
)

from tests.fakes.batches import NOW, busy_report


def summary(path: str = "/a", **fields: float) -> Summary:
    one = Summary(
        path=path, pod_uid="u1", container_id="c1", from_at=NOW - 15, to_at=NOW,
        cpu_cores=0.5, memory_bytes=1000,
    )  # fmt: skip
    return replace(one, **fields)  # type: ignore[arg-type]


def body_of(*reports: Report, node: str = "n1") -> bytes:
    form = ReportColumns()
    form.acknowledged(Ack("e1", 0, form=COLUMNS_FORM))
    return form.encode(node, "e1", [(n, form.record(one)) for n, one in enumerate(reports, 1)])


def said(*summaries: Summary) -> Report:
    return replace(busy_report(), summaries=summaries)


BODY = body_of(said(summary("/a"), summary("/b", throttled=0.25)), said(summary("/b")))


def taken(body: bytes) -> ColumnBatch:
    batch = decode_columns(body)
    check_columns(batch, now=NOW)
    return batch


def test_what_an_agent_sends_is_read_as_arrays_and_its_snapshot_stays_closed() -> None:
    batch = taken(BODY)
    assert (batch.node, batch.epoch, [one.seq for one in batch.envelopes]) == ("n1", "e1", [1, 2])
    first, second = batch.points[1], batch.points[2]
    assert (first.of.tolist(), second.of.tolist()) == ([0, 1], [1])
    assert first.columns["cpu_cores"].tolist() == [0.5, 0.5]
    assert np.isnan(first.columns["throttled"][0])
    assert first.columns["throttled"][1] == 0.25
    assert "throttled" not in second.columns
    assert [name[0] for name in batch.names[0].names] == ["/a", "/b"]
    assert batch.envelopes[0].report.machine == busy_report().machine
    assert batch.latest is not None
    shown = msgspec.json.decode(zlib.decompress(batch.latest.snapshot), type=Report)
    assert shown == busy_report()
    assert batch.latest.head.workloads == len(busy_report().workloads)


def record(
    change: Callable[[RecordHead], RecordHead] = lambda head: head, snapshot: bytes = b"x", more: bytes = b"",
    times: tuple[float, float] = (NOW - 15, NOW), number: float = 1.0, of: int = 0,
) -> bytes:  # fmt: skip
    head = RecordHead(
        taken_at=NOW, machine=busy_report().machine, workloads=1, processes=1, missing=0,
        naming=1, points=1, columns=("cpu_cores",), snapshot=len(snapshot),
    )  # fmt: skip
    text = msgspec.json.encode(change(head))
    arrays = np.array([of], "<i4").tobytes() + np.array([*times, number], "<f8").tobytes()
    return RECORD_PREFIX.pack(len(text)) + text + arrays + snapshot + more


def body(*records: bytes, head: ColumnsHead | None = None, form: int = COLUMNS_FORM) -> bytes:
    places = tuple(RecordPlace(seq, len(one)) for seq, one in enumerate(records, 1))
    names = SeriesNames(1, 0, (("/a", None, None, None),))
    text = msgspec.json.encode(head or ColumnsHead("n1", "e1", (names,), places))
    return PREFIX.pack(MAGIC, form, len(text)) + text + b"".join(records)


def named(*names: SeriesName, first: int = 0) -> bytes:
    return with_namings(SeriesNames(1, first, names))


def with_namings(*namings: SeriesNames) -> bytes:
    one = record()
    return body(one, head=ColumnsHead("n1", "e1", namings, (RecordPlace(1, len(one)),)))


MANY_NAMES = SeriesNames(1, 0, (("/a", None, None, None),) * MOST_SERIES)


def test_the_built_body_is_sound() -> None:
    assert taken(body(record())).points[1].of.tolist() == [0]
    assert len(taken(with_namings(MANY_NAMES, replace(MANY_NAMES, naming=2))).names) == 2


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (b"", "malformed"),
        (body(record()) + b"x", "malformed"),
        (body(record())[:-1], "malformed"),
        (body(record(more=b"x")), "malformed"),
        (body(b""), "malformed"),
        (body(record(lambda head: replace(head, points=2))), "malformed"),
        (body(record(lambda head: replace(head, points=-1))), "number"),
        (body(record(lambda head: replace(head, snapshot=-8))), "number"),
        (body(record(lambda head: replace(head, points=MOST_SUMMARIES + 1))), "bounds"),
        (body(record(lambda head: replace(head, columns=("a",) * (MOST_COLUMNS + 1)))), "bounds"),
        (body(record(lambda head: replace(head, columns=("a", "a"), points=0))), "bounds"),
        (body(record(snapshot=bytes(LARGEST_SNAPSHOT_BYTES + 1))), "bounds"),
        (body(record(lambda head: replace(head, taken_at=NOW + FUTURE_S + 1))), "future"),
        (body(record(times=(NOW, NOW - 1))), "future"),
        (body(record(times=(NOW, NOW + FUTURE_S + 1))), "future"),
        (body(record(times=(float("nan"), NOW))), "number"),
        (body(record(times=(-1.0, NOW))), "number"),
        (body(record(number=-0.5)), "number"),
        (body(record(number=float("inf"))), "number"),
        (body(record(of=-1)), "number"),
        (body(), "bounds"),
        (body(head=ColumnsHead("../n", "e1", (), ())), "text"),
        (named(("a", None, None, None)), "text"),
        (named(("/a\n", None, None, None)), "text"),
        (named(("/" * 5_000, None, None, None)), "bounds"),
        (named(("/a", "u" * 300, None, None)), "bounds"),
        (named(("/a", None, None, None), first=10_000), "bounds"),
        (named(("/a", None, None, None), first=-1), "number"),
        (body(record(lambda head: replace(head, workloads=2**60))), "number"),
        (with_namings(*(SeriesNames(1, 0, ()),) * (MOST_NAMINGS + 1)), "bounds"),
        (with_namings(MANY_NAMES, MANY_NAMES, SeriesNames(1, 0, MANY_NAMES.names[:1])), "bounds"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_its_reason(wrong: bytes, reason: str) -> None:
    with pytest.raises(RefusedBatchError) as refused:
        taken(wrong)
    assert refused.value.reason == reason


@pytest.mark.parametrize("wrong", [body(record(), form=2), b"{" + BODY])
def test_another_form_is_not_known(wrong: bytes) -> None:
    with pytest.raises(UnknownFormError):
        decode_columns(wrong)


def test_a_column_of_a_newer_version_is_left_out() -> None:
    found = taken(body(record(lambda head: replace(head, columns=("tomorrow",)))))
    assert found.points[1].columns == {}


@given(st.binary(max_size=200))
def test_any_bytes_are_taken_or_refused(hostile: bytes) -> None:
    for wrong in (hostile, PREFIX.pack(MAGIC, COLUMNS_FORM, len(hostile) // 2) + hostile):
        with contextlib.suppress(RefusedBatchError, UnknownFormError):
            taken(wrong)


@given(st.lists(st.tuples(st.integers(0, len(BODY) - 1), st.integers(0, 255)), max_size=6))
def test_a_damaged_body_is_refused_or_within_bounds(damage: list[tuple[int, int]]) -> None:
    wrong = bytearray(BODY)
    for at, byte in damage:
        wrong[at] = byte
    try:
        batch = taken(bytes(wrong))
    except (RefusedBatchError, UnknownFormError):
        return
    for points in batch.points.values():
        assert len(points.of) == len(points.from_at) == len(points.to_at)
        assert (points.from_at <= points.to_at).all()
        for column in points.columns.values():
            assert not (column < 0).any()
            assert not np.isinf(column).any()


def test_arrays_are_as_long_as_their_size_says() -> None:
    head = replace(decode_columns(BODY).latest.head, points=3, columns=("a", "b"))  # type: ignore[union-attr]
    assert arrays_size(head) == 3 * 4 + 4 * 3 * 8
