import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.prometheus_answers import (
    AHEAD_S,
    PARTIAL,
    PrometheusAnswer,
    UnreadablePrometheusError,
    matchers,
    quoted,
    read_answer,
)

NOW = 1_000_000.0


def read(result: Any, kind: str = "matrix", **more: object) -> PrometheusAnswer:
    document = {"status": "success", "data": {"resultType": kind, "result": result}, **more}
    return read_answer(json.dumps(document).encode(), now=NOW)


def test_a_matrix_and_a_vector_are_series() -> None:
    matrix = read([{"metric": {"a": "b"}, "values": [[1, "0.5"], [2.5, "1e3"]]}])
    (one,) = matrix.series
    assert (one.labels, one.at, one.values) == ({"a": "b"}, [1.0, 2.5], [0.5, 1000.0])
    (one,) = read([{"metric": {}, "value": [7, "-1"]}], "vector").series
    assert (one.at, one.values) == ([7.0], [-1.0])


def test_what_cannot_be_true_is_left_out_and_counted() -> None:
    samples = [
        [1, "1"],
        [1, "2"],
        [0, "3"],
        [2, "NaN"],
        [3, "+Inf"],
        [4, "1_0"],
        [5, "x"],
        [NOW + AHEAD_S, "4"],
        [NOW + AHEAD_S + 1, "5"],
    ]
    answer = read([{"metric": {"a": "1"}, "values": samples}])
    assert [list(one.values) for one in answer.series] == [[1.0, 4.0]]
    assert answer.dropped == {"duplicate": 1, "unordered": 1, "not_finite": 4, "future": 1}


def test_the_first_of_equal_series_counts() -> None:
    one, two = ({"metric": {"a": "1"}, "values": [[1, value]]} for value in ("1", "2"))
    answer = read([one, two])
    assert [list(found.values) for found in answer.series] == [[1.0]]
    assert answer.dropped == {"duplicate": 1}


def test_histograms_are_counted_and_not_read() -> None:
    answer = read([{"metric": {}, "histograms": [[1, {"count": "1"}], [2, {}]]}])
    assert (list(answer.series), answer.dropped) == ([], {"histogram": 2})


def test_warnings_are_told_plainly() -> None:
    assert read([], warnings=["a\x1b[2J", "b"] + ["c"] * 9).warnings[:2] == ["a [2J", "b"]
    assert len(read([], warnings=["c"] * 9).warnings) == 5
    assert read([], isPartial=True).warnings == [PARTIAL]
    assert read([], isPartial=False).warnings == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b'{"status":"success"}',
        b'{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}',
        b'{"status":"success","data":{"resultType":"vector","result":[{"value":[1,2]}]}}',
        b'{"status":"success","data":{"resultType":"matrix","result":[{"values":[[1,"1",2]]}]}}',
        b'{"status":"error","errorType":"bad_data","error":"parse error"}',
        b"\xff\xfe",
        b"[" * 5_000,
    ],
)
def test_anything_else_is_unreadable(content: bytes) -> None:
    with pytest.raises(UnreadablePrometheusError):
        read_answer(content, now=NOW)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"status":"success","data":null}', "it answers neither data nor an error"),
        (b'{"status":"error","errorType":"bad_data"}', "bad_data"),
        (b'{"status":"error","errorType":"bad_data","error":"no"}', "bad_data: no"),
    ],
)
def test_it_is_said_why(content: bytes, said: str) -> None:
    with pytest.raises(UnreadablePrometheusError) as caught:
        read_answer(content, now=NOW)
    assert str(caught.value) == said


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_do_any_harm(content: bytes) -> None:
    with pytest.raises(UnreadablePrometheusError):
        read_answer(content, now=NOW)


_STEPS = st.lists(
    st.tuples(
        st.floats(-1e9, 1e9),
        st.sampled_from(["NaN", "+Inf", "-Inf", "", "7"]) | st.floats().map(str),
    )
)


@given(st.lists(st.tuples(st.sampled_from("ab"), _STEPS), max_size=4))
def test_each_sample_is_kept_or_counted(given_series: list[tuple[str, list[Any]]]) -> None:
    answer = read([{"metric": {"n": name}, "values": values} for name, values in given_series])
    kept = sum(len(one.at) for one in answer.series)
    assert kept + sum(answer.dropped.values()) == sum(len(values) for _, values in given_series)
    for one in answer.series:
        assert list(one.at) == sorted(set(one.at))
        assert all(math.isfinite(value) for value in one.values)
        assert all(at <= NOW + AHEAD_S for at in one.at)


@given(st.text())
def test_a_quoted_text_ends_where_it_should(text: str) -> None:
    written = quoted(text)
    inside = written[1:-1]
    assert "\n" not in inside
    # Each quote and backslash in it has its backslash.
    assert inside.replace("\\\\", "").replace('\\"', "").count('"') == 0
    back = inside.replace("\\\\", "\0\0").replace('\\"', '"').replace("\\n", "\n")
    if "\0" not in text:
        assert back.replace("\0\0", "\\") == text


def test_a_selector_has_all_matchers() -> None:
    assert matchers({"a": "1", "b": 'x"'}) == '{a="1",b="x\\""}'
