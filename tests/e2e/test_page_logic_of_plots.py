"""What the page makes of figures over time: lines, plots, axes and what is zoomed to."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.page_modules import Modules
from tests.fakes.console_brain import points
from tests.fakes.console_inventory import history

moments = st.lists(st.integers(0, 9000).map(float), max_size=30)


@given(moments, moments)
def test_history_has_each_moment_once_in_order_and_no_more_than_an_hour(
    modules: Modules, known: list[float], fresh: list[float]
) -> None:
    merged = modules.run(
        "history",
        "m.merge(m.merge([], a[0].map((at) => ({at}))), a[1].map((at) => ({at}))).map((p) => p.at)",
        known,
        fresh,
    )
    newest = max(known + fresh, default=0)
    assert merged == sorted({at for at in known + fresh if at >= newest - 3600})


def test_a_line_stops_where_nobody_looked_or_nothing_is_known(modules: Modules) -> None:
    shown = points(10)
    shown[3]["cpu_cores"] = None
    del shown[6:8]  # A report or two that were lost are no gap yet.
    shown += points(5, until=shown[-1]["at"] + 600)
    runs = modules.run("history", "m.runs(a[0], 'cpu_cores').map((run) => run.length)", shown)
    assert runs == [3, 4, 5]


@given(st.lists(st.none() | st.floats(0, 1e12), max_size=40))
def test_a_drawing_stays_in_its_frame(modules: Modules, values: list[float | None]) -> None:
    shown = [{"at": 3.0 * index, "v": value} for index, value in enumerate(values)]
    drawn = modules.run("history", "m.drawing(a[0], 'v', 300, 56)", shown)
    numbers = [
        float(number)
        for path in drawn.values()
        for number in "".join(c if c in "0123456789.-" else " " for c in path).split()
    ]
    assert all(0 <= number <= 300 for number in numbers)
    assert "NaN" not in json.dumps(drawn)


def test_only_what_is_new_is_asked_for(modules: Modules) -> None:
    assert modules.run("history", "m.lacking([], 5000)") == 3600
    assert modules.run("history", "m.lacking([{at: 4990}], 5000)") == 15
    assert modules.run("history", "m.lacking([{at: 10}], 50000)") == 3600


def test_a_machine_is_drawn_with_its_gaps(modules: Modules) -> None:
    shown = points(10)
    shown[0]["cpu_cores"] = shown[4]["cpu_cores"] = None
    [cpu, memory] = modules.run("history", "m.lastHour(a[0])", shown)
    [used] = [layer["values"] for layer in cpu["layers"]]
    assert used[0] is None
    assert [value is None for value in used].count(True) == 2
    assert cpu["moments"] == sorted(cpu["moments"])
    assert (cpu["moments"][0], cpu["moments"][-1]) == (shown[0]["at"], shown[-1]["at"])
    assert memory["layers"][0]["values"] == [one["memory_used_bytes"] for one in shown]
    assert modules.run("history", "m.lastHour(a[0])", shown[:1]) == []


def test_what_stands_in_a_plot(modules: Modules) -> None:
    """A limit far above all use is told and not drawn; marks stand in the middle of their steps."""
    document = history(pods=[2.0] * 6)
    at = float(document["from_at"])
    demand = {"cpu_cores": {"request": 0.25, "limit": 9.0, "advised": None}}
    marks = {"changed": [2, 2], "deployed": [5], "busy": [True, True, False, False, True, False]}
    [cpu, _] = modules.run("plots", "m.plots(a[0], a[1], a[2])", document, demand, marks)
    assert [layer["name"] for layer in cpu["layers"]] == [
        "usual",
        "range",
        "request",
        "most",
        "mean",
    ]
    assert cpu["layers"][2]["values"] == [0.5] * 6
    assert cpu["words"].endswith("its limit is 9.000 cores, above this plot")
    assert cpu["marks"] == {
        "busy": [[at, at + 120], [at + 240, at + 300]],
        "deployed": [at + 330],
        "changed": [at + 150],
    }
    said = "m.plots(a[0], a[1], a[2])[0].at(2)"
    assert modules.run("plots", said, document, demand, marks) == {
        "amounts": "nothing is known of this moment",
        "events": "2 changes",
    }


WHOLE = {
    "from": 0.0,
    "to": 600.0,
    "step": 10.0,
    "moments": [10.0 * index + 5 for index in range(60)],
}


edges = st.floats(-900, 1500)


@given(edges, edges)
def test_what_is_zoomed_to_lies_in_what_is_known(
    modules: Modules, one: float, other: float
) -> None:
    wanted = sorted([one, other])
    shown = modules.run("timerange", "m.clipped(a[0], a[1])", wanted, WHOLE)
    if shown is not None:
        assert 0 <= shown[0] <= shown[1] <= 600
        assert 30 <= shown[1] - shown[0] < 600
        first, last = modules.run("timerange", "m.within(a[0], a[1])", WHOLE["moments"], shown)
        assert 0 <= first <= last < 60


@given(edges, st.floats(0, 600), st.sampled_from([0.5, 2, 1e9]))
def test_zooming_leaves_the_moment_that_is_read_in_sight(
    modules: Modules, begin: float, around: float, factor: float
) -> None:
    before = modules.run("timerange", "m.clipped(a[0], a[1])", [begin, begin + 200], WHOLE)
    shown = modules.run(
        "timerange", "m.scaled(a[0], a[1], a[2], a[3])", before, around, factor, WHOLE
    )
    if shown is None:
        assert factor > 1
    else:
        assert -0.001 <= shown[0] < shown[1] <= 600.001
        inside = before is None or before[0] <= around <= before[1]
        assert not inside or shown[0] - 0.001 <= around <= shown[1] + 0.001


@given(st.lists(st.integers(0, 100), min_size=1, unique=True).map(sorted), st.floats(-10, 110))
def test_the_moment_that_is_read_is_the_nearest(
    modules: Modules, moments: list[int], at: float
) -> None:
    index = modules.run("timerange", "m.nearest(a[0], a[1])", moments, at)
    assert abs(moments[index] - at) == min(abs(moment - at) for moment in moments)


def test_an_axis_says_the_day_at_midnight_and_where_days_are_apart(modules: Modules) -> None:
    midnight = "new Date(2026, 4, 9).getTime() / 1000"
    said = f"m.timeLabels([{midnight}, {midnight} + 3600], a[0])"
    [day, hour] = modules.run("timerange", said, 3600)
    assert "9" in day
    assert "1" in hour
    assert ":" in hour
    assert ":" not in day
    assert all("9" in label for label in modules.run("timerange", said, 86400))
