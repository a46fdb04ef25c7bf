import zlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.sizing.shared.kept_points import UnreadablePointsError, pack, unpack

numbers = st.floats(allow_nan=True, width=64)


@st.composite
def some_points(draw: st.DrawFn) -> UsagePoints:
    texts = st.none() | st.text(max_size=5)
    series = draw(
        st.lists(
            st.builds(Series, st.text(max_size=5), texts, texts, texts), min_size=1, max_size=4
        )
    )
    of = draw(st.lists(st.integers(0, len(series) - 1), max_size=8))
    column = st.lists(numbers, min_size=len(of), max_size=len(of)).map(np.array)
    return UsagePoints(
        series=series,
        of=np.array(of, dtype=np.int32),
        from_at=draw(column).astype(np.float64),
        to_at=draw(column).astype(np.float64),
        columns={name: draw(column).astype(np.float64) for name in ("cpu_cores", "throttled")},
    )


@given(some_points())
def test_points_come_back_as_they_were(points: UsagePoints) -> None:
    again, _ = unpack(pack(points))
    assert list(again.series) == list(points.series)
    assert again.of.tolist() == points.of.tolist()
    for one, other in (
        (again.from_at, points.from_at),
        (again.to_at, points.to_at),
        *((again.columns[name], column) for name, column in points.columns.items()),
    ):
        np.testing.assert_array_equal(one, other)


def test_what_a_former_version_has_written_is_read_and_what_a_newer_one_adds_is_left() -> None:
    series = [{"path": "/a", "program": None, "container_id": None, "pod_uid": None}]
    kept = [series, b"\0" * 4, b"\0" * 8, b"\0" * 8, {"cpu_cores": b"\0" * 8}]
    for content in (kept, [*kept, [], "what comes later"]):
        points, flows = unpack(zlib.compress(msgspec.msgpack.encode(content)))
        assert (points.series[0].path, len(points), flows) == ("/a", 1, ())


@given(st.binary(max_size=200) | st.binary(max_size=200).map(zlib.compress))
def test_what_is_no_points_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadablePointsError):
        unpack(content)


def test_a_point_of_no_series_is_refused() -> None:
    none = np.array([1.0])
    points = UsagePoints(
        series=[Series("/a", None, None, None)],
        of=np.array([1], dtype=np.int32),
        from_at=none,
        to_at=none,
        columns={},
    )
    with pytest.raises(UnreadablePointsError, match="of no series"):
        unpack(pack(points))
