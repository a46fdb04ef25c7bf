import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.series_tables import SeriesTable
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.neighbours.node_window import (
    FIGURES,
    MINUTES,
    MOST_ROWS,
    Key,
    NodeWindow,
    Values,
    decoded,
    key_of,
)

from tests.controller.neighbours.windows import MINUTE, NOW, add, container, points

CPU, WAIT = FIGURES.index("cpu"), FIGURES.index("cpu_waiting")
TURN_WAIT = FIGURES.index("turn_waiting")
MEMORY_WAIT = FIGURES.index("memory_waiting")


def viewed(window: NodeWindow, now: float) -> tuple[list[Key], Values]:
    keys, codes = window.copied(now=now)
    return keys, decoded(codes)


def one_point(end: float, **columns: float) -> UsagePoints:
    return points([container("a")], [0], [end], {k: [v] for k, v in columns.items()})


def test_a_minute_is_the_mean_of_what_was_reported_of_it() -> None:
    window, series = NodeWindow(), [container("a")]
    ends = [NOW + 15 * n for n in range(1, 5)]
    given_points = points(series, [0] * 4, ends, {"cpu_cores": [1.0, 2.0, 3.0, 6.0]})
    assert add(window, given_points, now=NOW + 61) == {}
    keys, values = viewed(window, NOW + 61)
    assert keys == [("a", "c")]
    assert values[CPU, 0, -1] == pytest.approx(3.0, rel=1e-3)
    assert np.isnan(values[CPU, 0, :-1]).all()
    assert np.isnan(values[WAIT]).all()


def test_a_figure_that_was_reported_of_one_row_late_is_unknown_of_others_and_before() -> None:
    window, series = NodeWindow(), [container(str(number)) for number in range(20)]
    add(window, points(series[:1], [0], [NOW + 30], {"cpu_cores": [1.0]}), now=NOW + 61)
    late = {"cpu_cores": [2.0, 3.0], "memory_waiting": [50.0, np.nan]}
    add(window, points(series, [0, 19], [NOW + 90] * 2, late), now=NOW + 121)
    many = {"cpu_cores": [1.0] * 20}
    add(window, points(series, range(20), [NOW + 150] * 20, many), now=NOW + 181)
    keys, values = viewed(window, NOW + 181)
    first = keys.index(("0", "c"))
    waited = values[MEMORY_WAIT]
    assert waited[first, -2] == pytest.approx(0.5, abs=0.01)
    assert np.isfinite(waited).sum() == 1
    assert np.isfinite(values[CPU]).sum() == 23


def test_what_comes_late_is_added_to_its_minute() -> None:
    window = NodeWindow()
    series = [container("a")]
    add(window, points(series, [0], [NOW + 30], {"cpu_cores": [1.0]}), now=NOW + 130)
    add(window, points(series, [0], [NOW + 45], {"cpu_cores": [3.0]}), now=NOW + 130)
    _, values = viewed(window, NOW + 130)
    assert values[CPU, 0, -2] == pytest.approx(2.0, rel=1e-3)


def test_a_clock_that_jumps_spoils_nothing() -> None:
    window = NodeWindow()
    add(window, one_point(NOW + 30, cpu_cores=1.0), now=NOW + 61)
    assert add(window, one_point(NOW + 9_000, cpu_cores=5.0), now=NOW + 61) == {"ahead": 1}
    assert add(window, one_point(NOW - 9_000, cpu_cores=5.0), now=NOW + 61) == {"late": 1}
    _, values = viewed(window, NOW + 61)
    assert values[CPU, 0, -1] == pytest.approx(1.0)
    # The brain's own clock goes back: nothing is lost, and what it calls now is not shown before its time.
    _, values = viewed(window, NOW - 3_000)
    assert np.isfinite(values[CPU]).sum() == 1


def test_an_hour_later_nothing_is_left_and_the_row_is_free() -> None:
    window = NodeWindow()
    add(window, one_point(NOW + 30, cpu_cores=1.0), now=NOW + 61)
    later = NOW + (MINUTES + 2) * MINUTE
    _, values = viewed(window, later)
    assert np.isnan(values).all()
    window.forget_ended()
    assert len(window) == 0
    add(window, one_point(later, cpu_cores=2.0), now=later + 1)
    assert viewed(window, later + 1)[0] == [("a", "c")]


def test_what_is_known_of_a_container_stays_when_its_agent_is_started_again() -> None:
    window, before = NodeWindow(), [container("ended"), container("a")]
    add(window, points(before, [0, 1], [NOW + 30] * 2, {"cpu_cores": [1.0, 2.0]}), now=NOW + 61)
    table = SeriesTable()
    table.add([("/kubepods/podb/c", "b", "c", None)])
    table.add([("/kubepods/poda/c", "a", "c", None)])
    add(window, points(table, [1, 0], [NOW + 90] * 2, {"cpu_cores": [4.0, 8.0]}), now=NOW + 121)
    keys, values = viewed(window, NOW + 121)
    assert keys == [("b", "c"), ("a", "c")]
    assert values[CPU, :, -1] == pytest.approx([8.0, 4.0], rel=1e-3)
    assert values[CPU, 1, -2] == pytest.approx(2.0, rel=1e-3)
    # The one that ended has no name any more; its row is its own until it is silent for an hour.
    assert len(window) == 3


def test_waits_that_its_own_limit_makes_are_taken_off() -> None:
    window = NodeWindow()
    add(window, one_point(NOW + 30, cpu_cores=1.0, cpu_waiting=80.0, throttled=0.75), now=NOW + 61)
    _, values = viewed(window, NOW + 61)
    assert values[WAIT, 0, -1] == pytest.approx(0.2, rel=1e-2)


def test_a_delay_of_threads_counts_as_a_part_of_the_time_in_which_they_could_run() -> None:
    window = NodeWindow()
    add(window, one_point(NOW + 30, cpu_cores=1.0, run_delay=3.0), now=NOW + 61)
    _, values = viewed(window, NOW + 61)
    assert values[WAIT, 0, -1] == pytest.approx(0.75, rel=1e-2)


def test_long_turns_are_known_in_seconds_unless_its_own_limit_makes_them() -> None:
    window = NodeWindow()
    add(
        window, one_point(NOW + 30, cpu_cores=1.0, run_delay_p99=0.045, throttled=0.0), now=NOW + 61
    )
    stopped = one_point(NOW + 90, cpu_cores=1.0, run_delay_p99=0.09, throttled=0.01)
    add(window, stopped, now=NOW + 121)
    _, values = viewed(window, NOW + 121)
    assert values[TURN_WAIT, 0, -2] == pytest.approx(0.045, rel=0.04)
    assert np.isnan(values[TURN_WAIT, 0, -1])


def test_a_killed_process_is_the_worst_of_memory() -> None:
    window = NodeWindow()
    add(window, one_point(NOW + 30, cpu_cores=0.0, oom_kills=1.0), now=NOW + 61)
    _, values = viewed(window, NOW + 61)
    assert values[MEMORY_WAIT, 0, -1] == 1.0


def test_a_pods_own_group_and_programs_are_no_rows() -> None:
    assert key_of(Series("/kubepods/poda", "a", None, None)) is None
    assert key_of(Series("/x.service", None, None, "bash")) is None
    assert key_of(Series("/x.service", None, None, None)) == ("/x.service", "")


def test_a_group_that_holds_others_is_no_row() -> None:
    window = NodeWindow()
    series = [
        Series(path, None, None, None) for path in ("/", "/kubepods", "/kubepods/x", "/a.service")
    ] + [container("a")]
    add(window, points(series, range(5), [NOW + 30] * 5, {"cpu_cores": [1.0] * 5}), now=NOW + 61)
    assert viewed(window, NOW + 61)[0] == [("/kubepods/x", ""), ("/a.service", ""), ("a", "c")]


def test_there_are_no_more_rows_than_its_bound() -> None:
    window = NodeWindow()
    series = [container(str(n)) for n in range(MOST_ROWS + 5)]
    many = points(
        series,
        list(range(len(series))),
        [NOW + 30] * len(series),
        {"cpu_cores": [1.0] * len(series)},
    )
    assert add(window, many, now=NOW + 61) == {"rows": 5}
    assert len(window) == MOST_ROWS
    keys, values = viewed(window, NOW + 61)
    assert len(keys) == MOST_ROWS
    assert values.shape[1] == MOST_ROWS


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.floats(-2 * 3600, 2 * 3600),
            st.floats(0, 1e15) | st.just(float("nan")),
        ),
        max_size=40,
    )
)
def test_whatever_is_reported_its_numbers_stay_in_their_ranges(
    reported: list[tuple[int, float, float]],
) -> None:
    window, series = NodeWindow(), [container(str(n)) for n in range(6)]
    for number, after, value in reported:
        one = points(
            series,
            [number],
            [max(NOW + after, 15.0)],
            {"cpu_cores": [value], "cpu_waiting": [value], "run_delay": [value]},
        )
        add(window, one, now=NOW)
    _, values = viewed(window, NOW + 60)
    known = values[~np.isnan(values)]
    assert np.isfinite(known).all()
    assert (known >= 0).all()
    waits = values[WAIT]
    assert (waits[~np.isnan(waits)] <= 1.0).all()
