import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.sources.datadog_answers import (
    DatadogBusyError,
    DatadogRefusedError,
    DatadogUnavailableError,
    read_answer,
    refusal,
    understood,
    wait_s,
)

NOW = 1_711_981_201.0
# As it was recorded of the real one: moments that are not even, a series without tags and without a unit.
RECORDED = (
    b'{"data":{"id":"0","type":"timeseries_response","attributes":{"series":[{"group_tags":[],"query_index":0,'
    b'"unit":null}],"times":[1711977645000,1711977705000,1711980225000],"values":[[1,1,87]]}}}'
)
EMPTY = (
    b'{"data":{"id":"0","type":"timeseries_response","attributes":'
    b'{"series":[],"times":[],"values":[]}}}\n\n'
)
NANOCORE = {"family": "cpu", "name": "nanocore", "scale_factor": 1e-9}


def answered(series: list[Any], times: list[Any], values: list[Any]) -> bytes:
    attributes = {"series": series, "times": times, "values": values}
    return json.dumps({"data": {"attributes": attributes}}).encode()


def one(
    *values: float | None, unit: object = None, times: list[float] | None = None, **tags: str
) -> bytes:
    row = {"group_tags": [f"{k}:{v}" for k, v in tags.items()], "query_index": 0, "unit": unit}
    moments = times or [1_711_977_600_000 + 300_000 * n for n in range(len(values))]
    return answered([row], moments, [list(values)])


def test_what_the_real_one_has_answered_is_read() -> None:
    answer = read_answer(RECORDED, units=("",), now=NOW)
    ((found,),) = answer.series
    assert (found.labels, found.at, found.values) == (
        {},
        [1711977645.0, 1711977705.0, 1711980225.0],
        [1.0, 1.0, 87.0],
    )
    assert (answer.dropped, answer.pause_s) == ({}, 0.0)
    assert read_answer(EMPTY, units=("core", "byte"), now=NOW).series == [[], []]


@pytest.mark.parametrize(
    ("unit", "usual", "value"),
    [
        (None, "nanocore", 0.25),
        ([NANOCORE, None], "nanocore", 0.25),
        ([NANOCORE, None], "byte", 0.25),
        ([{"name": "core"}, None], "nanocore", 250e6),
        ([{"name": "millicore"}, None], "nanocore", 250e3),
        ([{"name": "percent_nano"}, None], "nanocore", 0.25),
        ([None, None], "nanocore", 0.25),
        ([], "nanocore", 0.25),
        ([{"name": None}], "nanocore", 0.25),
        ([{"name": "mebibyte"}], "byte", 250e6 * 1024**2),
        ([{"name": "container"}], "", 250e6),
    ],
)
def test_its_own_unit_counts_and_else_the_usual_one(unit: object, usual: str, value: float) -> None:
    ((found,),) = read_answer(one(250e6, unit=unit), units=(usual,), now=NOW).series
    assert list(found.values) == pytest.approx([value])


def test_a_unit_that_nobody_knows_is_left_out_and_counted() -> None:
    answer = read_answer(one(1, None, 2, unit=[{"name": "page"}]), units=("byte",), now=NOW)
    assert (answer.series, answer.dropped) == ([[]], {"unit": 2})


def test_what_is_beyond_all_numbers_in_its_unit_is_no_warning() -> None:
    content = one(1e308, 1.0, unit=[{"name": "gibibyte"}], pod_name="p")
    ((found,),) = read_answer(content, units=("byte",), now=NOW).series
    assert found.values == [math.inf, 1024.0**3]


def test_nothing_is_no_number_and_no_fault() -> None:
    answer = read_answer(one(None, 2e9, None, pod_name="p"), units=("nanocore",), now=NOW)
    ((found,),) = answer.series
    assert (found.at, found.values, answer.dropped) == ([1711977900.0], [2.0], {})


def test_moments_from_the_future_again_or_out_of_order_are_left_out_and_counted() -> None:
    now_ms = NOW * 1_000
    times = [now_ms - 900e3, now_ms + 1e9, now_ms - 600e3, now_ms - 600e3, now_ms - 700e3, now_ms]
    answer = read_answer(one(1, 2, 3, 4, 5, 6, times=times), units=("byte",), now=NOW)
    ((found,),) = answer.series
    assert found.values == [1.0, 3.0, 6.0]
    assert answer.dropped == {"future": 1, "duplicate": 1, "unordered": 1}


def test_rows_that_are_too_short_missing_or_of_no_query_are_left_out_and_counted() -> None:
    row = {"group_tags": ["pod_name:p"], "query_index": 0}
    content = answered([row, {**row, "query_index": 3}, row], [1e12, 2e12], [[1], [1, 2]])
    assert read_answer(content, units=("byte",), now=NOW).dropped == {"ragged": 3}


def test_what_is_told_twice_counts_once() -> None:
    row = {"group_tags": ["pod_name:p", "kube_namespace:shop"], "query_index": 0}
    again = {"group_tags": ["kube_namespace:shop", "pod_name:p"], "query_index": 0}
    answer = read_answer(
        answered([row, again], [1_711_977_600_000], [[1], [2]]), units=("byte",), now=NOW
    )
    assert ([one.values for one in answer.series[0]], answer.dropped) == ([[1.0]], {"duplicate": 1})


def test_a_tag_that_a_series_does_not_have_is_none() -> None:
    content = one(1, pod_name="p:q", kube_container_name="N/A", empty="")
    ((found,),) = read_answer(content, units=("byte",), now=NOW).series
    assert found.labels == {"pod_name": "p:q"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"errors": "query timed out"}', "query timed out"),
        (b'{"errors": ["a", "b"]}', "a; b"),
        (b"{}", "nothing"),
        (b'{"data": null}', "nothing"),
        (b"<html>", "cannot be read"),
        (b"[" * 5_000, "cannot be read"),
        (answered([], [0] * 10_001, []), "more than can be held"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_what_it_says(content: bytes, said: str) -> None:
    with pytest.raises(DatadogRefusedError, match=said):
        read_answer(content, units=("byte",), now=NOW)


@settings(max_examples=50)
@given(
    st.recursive(
        st.none() | st.floats(allow_nan=False) | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["series", "times", "values", "group_tags", "unit", "query_index"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_is_answered_is_read_or_refused(attributes: object) -> None:
    content = json.dumps({"data": {"attributes": attributes}}).encode()
    try:
        answer = read_answer(content, units=("byte",), now=NOW)
    except DatadogRefusedError as error:
        assert len(str(error)) < 300  # noqa: PT017 - either is right
    else:
        assert not any(math.isnan(value) for found in answer.series[0] for value in found.values)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset": "12", "x-ratelimit-period": "3600"}, 12.0),
        ({"x-ratelimit-reset": "soon", "x-ratelimit-period": "30"}, 30.0),
        ({"x-ratelimit-reset": "0"}, 1.0),
        ({"x-ratelimit-reset": "999999999999"}, 3_600.0),
        ({"x-ratelimit-reset": "-5"}, 60.0),
        ({}, 60.0),
    ],
)
def test_how_long_to_wait_is_what_it_says_within_reason(
    headers: dict[str, str], seconds: float
) -> None:
    assert wait_s(headers) == seconds


def test_after_the_last_question_of_a_period_there_is_a_pause() -> None:
    told = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"}
    assert understood(told, EMPTY, units=("byte",), now=NOW).pause_s == 9.0
    told["x-ratelimit-remaining"] = "1"
    assert understood(told, EMPTY, units=("byte",), now=NOW).pause_s == 0.0


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (429, DatadogBusyError, "asked too often"),
        (403, DatadogRefusedError, "timeseries_query"),
        (401, DatadogRefusedError, "timeseries_query"),
        (400, DatadogRefusedError, "why"),
        (503, DatadogUnavailableError, "why"),
        (None, DatadogUnavailableError, "why"),
    ],
)
def test_a_refusal_says_whether_asking_again_helps(
    status: int | None, kind: type[Exception], said: str
) -> None:
    error = refusal("why", status, {"x-ratelimit-reset": "5"})
    assert isinstance(error, kind)
    assert said in str(error)
