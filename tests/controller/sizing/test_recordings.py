import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.recordings import (
    Recording,
    UnreadableRecordingError,
    read_recording,
)
from nemutator_controller.sizing.strategies.known import Resource

NOW = 2e9


def _read(text: str, resource: Resource = "cpu") -> Recording:
    return read_recording(text.encode(), resource, step_s=300, now=NOW)


def test_points_are_put_together_in_steps() -> None:
    found = _read(
        "time,name,pod,cpu,memory\n"
        "0,web,a,1,10\n150,web,a,3,50\n600,web,a,5,20\n300,web,b,7,30\n0,db,c,1,1\n"
    )
    assert [use.name for use in found.uses] == ["db", "web"]
    np.testing.assert_array_equal(found.uses[1].pods, [[2.0, np.nan, 5.0], [np.nan, 7.0, np.nan]])


def test_of_memory_the_most_in_a_step_counts() -> None:
    found = _read("time,name,pod,memory\n0,web,a,10\n150,web,a,50\n", "memory")
    assert found.uses[0].pods.tolist() == [[50.0]]


def test_own_history_is_read() -> None:
    figure = {"mean": [1.0, None, 3.0], "most": [1.5, None, 2.0]}
    document = {
        "kind": "WorkloadHistory",
        "namespace": "shop",
        "owner": "web",
        "container": "app",
        "from_at": 600,
        "step_s": 300,
        "figures": {"cpu_cores": figure},
    }
    (use,) = _read(json.dumps(document)).uses
    assert use.name == "shop/web/app"
    np.testing.assert_array_equal(use.pods, [[1.0, np.nan, 2.0]])
    with pytest.raises(UnreadableRecordingError, match="step_s"):
        _read(json.dumps(document | {"step_s": 0}))


def test_moments_may_be_written_for_people() -> None:
    text = "name,pod,cpu,time\nweb,a,1,2026-01-31T12:00:00Z\nweb,a,2,2026-01-31T13:10:00+01:00\n"
    np.testing.assert_array_equal(_read(text).uses[0].pods, [[1.0, np.nan, 2.0]])


def test_a_mark_of_byte_order_is_no_part_of_json_either() -> None:
    answer = {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [{"metric": {"pod": "a"}, "values": [[0, "1"], [3600, "2"]]}],
        },
    }
    assert len(_read("\N{BOM}" + json.dumps(answer)).uses) == 1


def test_all_lines_count_that_a_stray_quote_has_swallowed() -> None:
    lines = [f"{300 * number},web,a,1" for number in range(100)]
    lines[40] = '12000,"web,a,1'
    assert _read("\n".join(["time,name,pod,cpu", *lines])).dropped == {"unreadable": 60}


def test_what_is_no_use_is_left_out_and_counted() -> None:
    found = _read(
        "time,name,pod,cpu\n0,web,a,1\nx,web,a,1\n0,web,a,nan\n0,web,a,1e999\n0,web,a,-1\n"
        "0,web\n2026-01-31T12:00:00,web,a,1\n0,web,a,\n\n0,web,a,1_0\n-9,web,a,1\ninf,web,a,1\n"
    )
    assert found.uses[0].pods.tolist() == [[1.0]]
    assert found.dropped == {"unreadable": 8, "negative": 1}


def test_an_answer_of_prometheus_is_read() -> None:
    answer = {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {
                    "metric": {
                        "namespace": "shop",
                        "pod": f"web-{pod}",
                        "workload": "web",
                        "container": "app",
                    },
                    "values": [[0, "1"], [300, pod], [600, "NaN"]],
                }
                for pod in ("2", "3")
            ],
        },
    }
    found = _read(json.dumps(answer))
    assert [use.name for use in found.uses] == ["shop/web/app"]
    assert found.uses[0].pods.tolist() == [[1.0, 2.0], [1.0, 3.0]]
    assert found.dropped == {"not_finite": 2}


def test_one_moment_that_is_far_off_does_not_cost_the_others() -> None:
    day = 86_400
    begin = 20_000 * day
    lines = [f"{begin + at * 300},web,a,1" for at in range(600)]
    far = [0, begin - 700 * day, begin + 400 * day, begin + 20_000 * day, 1e15]
    lines += [f"{at},web,{pod},9" for at, pod in zip(far, "abcaa", strict=True)]
    lines += [f"{begin},db,a,2", f"{begin + 300},db,a,2", "1e15,queue,a,1"]
    found = _read("time,name,pod,cpu\n" + "\n".join(lines))
    assert [use.name for use in found.uses] == ["db", "web"]
    np.testing.assert_array_equal(found.uses[1].pods, np.ones((1, 600)))
    assert found.dropped == {"far_off": 6}


def test_what_ran_again_after_months_is_one_recording() -> None:
    later = 100 * 86_400
    found = _read(f"time,name,pod,cpu\n0,web,a,1\n300,web,a,1\n{later},web,a,3\n")
    assert found.uses[0].pods.shape == (1, later // 300 + 1)
    assert found.dropped == {}


def test_of_parts_that_lie_years_apart_the_larger_one_is_replayed() -> None:
    found = _read(
        "time,name,pod,cpu\n0,web,a,1\n300,web,a,1\n1e9,web,b,1\n1e8,db,a,1\n2e9,db,a,1\n"
    )
    assert [(use.name, use.pods.shape) for use in found.uses] == [("db", (1, 1)), ("web", (1, 2))]
    assert found.dropped == {"far_off": 2}


@pytest.mark.parametrize(("resource", "most"), [("cpu", 1_000), ("memory", 10**12)])
def test_more_than_any_machine_has_is_left_out_and_counted(resource: Resource, most: int) -> None:
    lines = [f"{at},web,a,{value}" for at, value in ((0, most), (300, 1e15), (600, 1))]
    content = "\n".join([f"time,name,pod,{resource}", *lines]).encode()
    found = read_recording(content, resource, step_s=300, now=0.0)
    assert found.dropped == {"absurd": 1}
    assert np.nanmax(found.uses[0].pods) == most


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not name time, name, pod, cpu"),
        ("time,name,pod,memory\n", "does not name cpu"),
        ("time;name;pod;cpu\n", "with commas between"),
        (
            "time,name,pod,cpu\n"
            + "".join(f"{at},web,p{each},1\n" for each in range(200) for at in (0, 9e7)),
            "more than 50000000 steps of 300 s: take longer steps",
        ),
        ('{"status":"error","errorType":"bad_data","error":"x"}', "bad_data: x"),
        ("{", "truncated|malformed"),
        (
            "time,name,pod,cpu\n" + "".join(f"{at * 2e6},web,a,1\n" for at in range(60)),
            "too far apart: more than three years",
        ),
        (
            "time,name,pod,cpu\n1700000000000,web,a,1\n1700008000000,web,a,1\n",
            "after the year 9999, if its times are in seconds",
        ),
        ("time,name,pod,cpu\n1e300,web,a,1\n", "after the year 9999"),
        ('time,name,pod,cpu\n"' + "x" * 200_000 + "\n", "line"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(UnreadableRecordingError, match=why):
        _read(text)


def test_other_bytes_than_text_are_refused() -> None:
    with pytest.raises(UnreadableRecordingError, match="not UTF-8"):
        read_recording(b"\xff\xfe\x00", "cpu", step_s=300, now=NOW)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(UnreadableRecordingError):
        found = read_recording(b"time,name,pod,cpu\n" + content, "cpu", step_s=300, now=NOW)
        assert all(np.nanmin(use.pods) >= 0 for use in found.uses)
