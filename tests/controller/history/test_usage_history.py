from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.history import days, minutes, weeks
from nemutator_controller.history.cells import RowCells
from nemutator_controller.history.rows import SPARED_S
from nemutator_controller.history.usage_history import FUTURE_S, LATE_S, UsageHistory
from nemutator_controller.ingest.usage_points import Series, UsagePoints

from tests.controller.history.points import (
    NOW,
    Point,
    history,
    key,
    pod,
    points,
    quarters,
    settle,
)

MINUTE, HOUR = 60.0, 3600.0


def seen(usage: UsageHistory, owner: str = "a", *, since: float = NOW - 86_400) -> RowCells:
    return usage.cells(key(owner), begin=since, end=NOW + 30 * 86_400)


def at(cells: RowCells, moment: float, measure: str = "mean", figure: str = "cpu_cores") -> float:
    (place,) = np.flatnonzero(cells.at == moment)
    return float(cells.figures[figure][measure][place])


def test_pods_of_one_owner_are_added_and_the_most_of_one_is_kept() -> None:
    usage, series = history(), [pod("a", "0"), pod("a", "1"), pod("b")]
    given_points = [
        *quarters(NOW, 4, cpu=1),
        *quarters(NOW, 4, cpu=3, of=1),
        *quarters(NOW, 4, of=2),
    ]
    usage.learn("n", points(series, given_points), now=NOW + 60)
    cells = seen(usage)
    assert at(cells, NOW) == pytest.approx(4.0)
    assert at(cells, NOW, "most") == pytest.approx(3.0, rel=0.001)
    assert cells.pods[cells.at == NOW] == pytest.approx(2.0)
    assert at(seen(usage, "b"), NOW) == pytest.approx(1.0)


def test_a_quarter_that_lies_in_two_minutes_belongs_to_both() -> None:
    usage = history()
    usage.learn("n", points([pod("a")], [(0, NOW + 50, NOW + 65, 2.0, 7.0)]), now=NOW + 70)
    cells = seen(usage)
    assert cells.seconds[(cells.at == NOW) | (cells.at == NOW + 60)] == pytest.approx([10, 5])
    assert at(cells, NOW) == at(cells, NOW + 60) == pytest.approx(2.0)


def test_a_pod_counts_for_as_long_as_it_ran() -> None:
    usage, series = history(), [pod("a", "0"), pod("a", "1")]
    usage.learn("n", points(series, [*quarters(NOW, 4), *quarters(NOW, 2, of=1)]), now=NOW + 60)
    cells = seen(usage)
    assert at(cells, NOW) == pytest.approx(1.5)
    assert cells.pods[cells.at == NOW] == pytest.approx(1.5)


def test_a_gap_is_not_zero() -> None:
    usage = history()
    told = [*quarters(NOW, 4), *quarters(NOW + 120, 2)]
    usage.learn("n", points([pod("a")], told), now=NOW + 180)
    cells = seen(usage)
    assert np.isnan(at(cells, NOW + 60))
    assert at(cells, NOW + 120) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ((0, NOW + 15, NOW, 1.0, 1.0), "absurd"),
        ((0, NOW, NOW + 61, 1.0, 1.0), "absurd"),
        ((0, NOW, NOW, 1.0, 1.0), "absurd"),
        ((0, NOW, NOW + 15, -1.0, 1.0), "absurd"),
        ((0, NOW, NOW + 15, 1.0, 2.0**60), "absurd"),
        ((0, float("nan"), NOW + 15, 1.0, 1.0), "absurd"),
        ((0, NOW + 90_000, NOW + 90_015, 1.0, 1.0), "future"),
        ((0, NOW - 90_000, NOW - 89_985, 1.0, 1.0), "late"),
        ((1, NOW, NOW + 15, 1.0, 1.0), "unknown_owner"),
    ],
)
def test_what_cannot_be_believed_is_counted_and_the_rest_is_added(told: Point, reason: str) -> None:
    usage = history()
    series = [pod("a"), pod("nobody")]
    folded = usage.learn("n", points(series, [*quarters(NOW, 1), told]), now=NOW + 60)
    assert folded.dropped == {reason: 1}
    assert folded.added == 1


def test_the_same_report_twice_counts_once() -> None:
    usage, told = history(), points([pod("a")], quarters(NOW, 4))
    usage.learn("n", told, now=NOW + 60)
    folded = usage.learn("n", told, now=NOW + 61)
    assert (folded.added, folded.dropped) == (0, {"again": 4})
    assert at(seen(usage), NOW) == pytest.approx(1.0)


def test_the_same_point_twice_in_one_report_counts_once() -> None:
    usage = history()
    told = points([pod("a")], [*quarters(NOW, 4), *quarters(NOW, 4)])
    assert usage.learn("n", told, now=NOW + 60).dropped == {"again": 4}
    assert at(seen(usage), NOW) == pytest.approx(1.0)


def test_another_epoch_names_its_series_anew() -> None:
    usage = history()
    usage.learn("n", points([pod("a"), pod("b")], quarters(NOW, 4)), now=NOW + 60)
    usage.learn("n", points([pod("b"), pod("a")], quarters(NOW + 60, 4)), now=NOW + 120)
    assert at(seen(usage, "b"), NOW + 60) == pytest.approx(1.0)
    assert np.isnan(at(seen(usage, "a"), NOW + 60))


def test_a_list_of_series_may_grow() -> None:
    usage, series = history(), [pod("a")]
    usage.learn("n", points(series, quarters(NOW, 4)), now=NOW + 60)
    series.append(pod("b"))
    usage.learn("n", points(series, quarters(NOW + 60, 4, of=1)), now=NOW + 120)
    assert at(seen(usage, "b"), NOW + 60) == pytest.approx(1.0)


def test_what_is_not_known_of_a_figure_is_not_zero() -> None:
    usage = history()
    told = points([pod("a")], [(0, NOW, NOW + 15, 1.0, float("nan"))])
    usage.learn("n", told, now=NOW + 60)
    cells = seen(usage)
    assert at(cells, NOW) == pytest.approx(1.0)
    assert "memory_bytes" not in cells.figures


def test_five_minutes_become_a_cell_and_leave_the_minutes_later() -> None:
    usage = history()
    begin = NOW - NOW % 300
    for minute in range(180):
        moment = begin + 60 * minute
        told = quarters(moment, 4, cpu=1.0 + minute % 5)
        usage.learn("n", points([pod("a")], told), now=moment + 60)
        settle(usage, moment + 60)
    cells = seen(usage, since=begin)
    assert np.diff(cells.at).tolist() == [300] * 12 + [60] * 119
    assert at(cells, begin) == pytest.approx(3.0, rel=0.002)
    assert at(cells, begin, "low") == pytest.approx(1.0, rel=0.002)
    assert at(cells, begin, "high") == pytest.approx(5.0, rel=0.002)


def test_after_a_pause_the_minutes_before_it_are_still_settled() -> None:
    usage = history()
    begin = NOW - NOW % 300
    usage.learn("n", points([pod("a")], quarters(begin, 4)), now=begin + 60)
    later = begin + 5 * HOUR
    usage.learn("n", points([pod("a")], quarters(later, 4, cpu=2)), now=later + 60)
    cells = seen(usage, since=begin)
    assert at(cells, begin) == pytest.approx(1.0, rel=0.002)
    assert np.isnan(at(cells, begin + 300))
    assert at(cells, later) == pytest.approx(2.0)
    assert int((~np.isnan(cells.figures["cpu_cores"]["mean"])).sum()) == 2


def test_a_pause_longer_than_a_day_leaves_nothing_behind() -> None:
    usage = history()
    begin = NOW - NOW % 300
    usage.learn("n", points([pod("a")], quarters(begin, 4)), now=begin + 60)
    settle(usage, begin + 40 * HOUR)
    later = begin + 50 * HOUR
    usage.learn("n", points([pod("a")], quarters(later, 4)), now=later + 60)
    settle(usage, later + 3 * HOUR)
    cells = seen(usage, since=begin - HOUR)
    assert int((~np.isnan(cells.figures["cpu_cores"]["mean"])).sum()) == 1


def test_a_clock_that_was_ahead_is_set_back() -> None:
    usage = history()
    ahead = NOW + 7 * 86_400
    usage.learn("n", points([pod("a")], quarters(ahead, 4, cpu=9)), now=ahead + 60)
    settle(usage, ahead + 3 * HOUR)
    folded = usage.learn("n", points([pod("a")], quarters(NOW, 4)), now=NOW + 60)
    assert folded.added == 4
    cells = seen(usage)
    assert at(cells, NOW) == pytest.approx(1.0)
    assert int((~np.isnan(cells.figures["cpu_cores"]["mean"])).sum()) == 1


def test_what_comes_after_half_an_hour_is_late() -> None:
    usage = history()
    usage.learn("n", points([pod("a")], quarters(NOW + 2 * LATE_S, 4)), now=NOW + 2 * LATE_S + 60)
    settle(usage, NOW + 2 * LATE_S + 60)
    late = points([pod("a", "other")], quarters(NOW, 4))
    assert usage.learn("m", late, now=NOW + 2 * LATE_S + 60).dropped == {"late": 4}
    in_time = points([pod("a", "third")], quarters(NOW + LATE_S + 600, 4))
    assert usage.learn("o", in_time, now=NOW + 2 * LATE_S + 60).added == 4


def test_a_usual_week_is_learned_hour_by_hour() -> None:
    usage = history()
    begin = NOW - NOW % HOUR
    for minute in range(130):
        moment = begin + 60 * minute
        usage.learn("n", points([pod("a")], quarters(moment, 4, cpu=2.0)), now=moment + 60)
        settle(usage, moment + 60)
    week = usage.usual_week(key("a"))
    slot = weeks.slot_of(int(begin // HOUR))
    assert week.minutes[slot] == 60
    assert week.figures["cpu_cores"]["median"][slot] == pytest.approx(2.0, rel=0.04)
    assert int((week.minutes > 0).sum()) == 1


def test_a_row_makes_room_only_when_it_has_been_silent_for_an_hour() -> None:
    usage = history(most=2)
    two = points([pod("a"), pod("b")], [*quarters(NOW, 1), *quarters(NOW, 1, of=1)])
    usage.learn("n", two, now=NOW + 15)
    third = points([pod("c")], quarters(NOW + 60, 1))
    assert usage.learn("m", third, now=NOW + 75).dropped == {"no_room": 1}
    later = NOW + SPARED_S + 60
    still = points([pod("b")], quarters(later - 60, 1))
    usage.learn("p", still, now=later)
    again = usage.learn("m", points([pod("c")], quarters(later, 1)), now=later + 60)
    assert (again.added, again.evicted) == (1, 1)
    assert [one.owner for one in usage.known_keys()] == ["b", "c"]
    # What the first had is not what its successor had.
    assert np.isnan(at(seen(usage, "c"), NOW))


def test_a_row_that_nobody_had_takes_no_memory_for_what_is_not_known_of_it() -> None:
    usage = history(most=2)
    usage.learn("n", points([pod("a")], quarters(NOW, 1)), now=NOW + 15)
    closed = [*usage.days.matrices(), *usage.weeks.matrices()]
    for matrix in closed:
        # To write there fails, zeros too.
        matrix.flags.writeable = False
    usage.learn("m", points([pod("b")], quarters(NOW, 1)), now=NOW + 15)
    for matrix in closed:
        matrix.flags.writeable = True
    assert at(seen(usage, "b"), NOW) == at(seen(usage, "a"), NOW)


def test_a_node_whose_row_went_to_another_gets_a_new_one() -> None:
    usage = history(most=1)
    series = [pod("a")]
    usage.learn("n", points(series, quarters(NOW, 1)), now=NOW + 15)
    later = NOW + SPARED_S + 60
    usage.learn("m", points([pod("b")], quarters(later, 1)), now=later + 15)
    folded = usage.learn("n", points(series, quarters(later + 60, 1)), now=later + 90)
    assert folded.dropped == {"no_room": 1}
    assert [one.owner for one in usage.known_keys()] == ["b"]


def test_rows_that_are_silent_are_forgotten() -> None:
    usage = history()
    usage.learn("n", points([pod("a")], quarters(NOW, 1)), now=NOW + 15)
    assert usage.forget(silent_since=NOW) == 0
    assert usage.forget(silent_since=NOW + 100) == 1
    assert usage.known_keys() == []
    with pytest.raises(KeyError):
        usage.cells(key("a"), begin=NOW, end=NOW + 60)
    with pytest.raises(KeyError):
        usage.usual_week(key("a"))


def test_an_owner_that_becomes_known_is_looked_up_again() -> None:
    known: list[str] = []
    usage = UsageHistory(lambda node, one: key("a") if known else None, most=10)
    series = [pod("a")]
    assert usage.learn("n", points(series, quarters(NOW, 1)), now=NOW).dropped == {
        "unknown_owner": 1
    }
    known.append("a")
    assert usage.learn("n", points(series, quarters(NOW + 60, 1)), now=NOW + 60).added == 1


# --- properties ----------------------------------------------------------------------------------
@st.composite
def reports(draw: st.DrawFn) -> list[tuple[str, list[Point]]]:
    """What four nodes say of two owners' pods in 40 minutes, with gaps and minutes that are not whole."""
    said = []
    for node in range(4):
        moment = NOW + draw(st.integers(0, 59))
        for _ in range(draw(st.integers(1, 25))):
            moment += draw(st.sampled_from([0, 0, 0, 15, 60]))
            length = draw(st.sampled_from([15.0, 15.0, 7.0]))
            cpu = draw(st.floats(0, 8))
            said.append((f"n{node}", [(node % 2, moment, moment + length, cpu, cpu * 1000)]))
            moment += length
    return said


def reference(
    said: list[tuple[str, list[Point]]], series: int
) -> dict[int, tuple[float, float, float]]:
    """By minute: the sum of use, the seconds of the minute that were reported, and the most of one pod."""
    used: dict[int, float] = defaultdict(float)
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    most: dict[int, float] = defaultdict(float)
    for _, told in said:
        for of, begin, end, cpu, _memory in told:
            if of != series:
                continue
            minute = int(begin // 60)
            while minute * 60 < end:
                left, right = max(begin, minute * 60), min(end, minute * 60 + 60)
                used[minute] += cpu * (right - left)
                first[minute] = min(first.get(minute, left), left)
                last[minute] = max(last.get(minute, right), right)
                most[minute] = max(most[minute], cpu)
                minute += 1
    return {m: (used[m] / (last[m] - first[m]), last[m] - first[m], most[m]) for m in used}


SERIES = [pod("a"), pod("b")]


@settings(deadline=None, max_examples=30)
@given(reports(), st.randoms())
def test_minutes_are_what_a_plain_sum_says_in_any_order_of_nodes(said, rng) -> None:  # type: ignore[no-untyped-def]
    by_node: dict[str, list[list[Point]]] = defaultdict(list)
    for node, told in said:
        by_node[node].append(told)
    usage = history()
    while by_node:
        node = rng.choice(sorted(by_node))
        series = {"n0": SERIES, "n1": SERIES, "n2": SERIES, "n3": SERIES}[node]
        usage.learn(node, points(series, by_node[node].pop(0)), now=NOW + 2700)
        if not by_node[node]:
            del by_node[node]
    for number, owner in enumerate("ab"):
        expected = reference(said, number)
        cells = seen(usage, owner)
        known = ~np.isnan(cells.figures["cpu_cores"]["mean"])
        assert set((cells.at[known] // 60).tolist()) == set(expected)
        for minute, (mean, seconds, most) in expected.items():
            assert at(cells, minute * 60) == pytest.approx(mean, rel=1e-4, abs=1e-6)
            assert at(cells, minute * 60, "most") == pytest.approx(most, rel=0.001, abs=1e-6)
            assert cells.seconds[cells.at == minute * 60] == pytest.approx(seconds)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(-3, 4),
            st.floats(allow_nan=True, allow_infinity=True),
            st.floats(allow_nan=True, allow_infinity=True),
            st.floats(allow_nan=True, allow_infinity=True),
        ),
        min_size=1,
        max_size=20,
    ),
    st.floats(1e6, 4e9),
)
def test_whatever_is_reported_the_history_stays_one(said, now) -> None:  # type: ignore[no-untyped-def]
    usage = history(most=3)
    series: list[Series] = [pod(name) for name in ("a", "b", "c", "d", "nobody")]
    for shift, begin, length, value in said:
        moment = now + shift * 40_000
        told: UsagePoints = points(
            series,
            [
                (abs(shift), begin, begin + length, value, value),
                *quarters(moment, 2, cpu=1.0, of=abs(shift)),
            ],
        )
        folded = usage.learn("n", told, now=moment + 60)
        assert folded.added + sum(folded.dropped.values()) == 3
        settle(usage, moment + 60)
        for owner in usage.known_keys():
            cells = usage.cells(owner, begin=moment - 90_000, end=moment + FUTURE_S)
            assert (np.diff(cells.at) > 0).all()
            for measures in cells.figures.values():
                for values in measures.values():
                    assert not (values < 0).any()


def test_a_row_takes_so_many_bytes() -> None:
    usage = history(most=1)
    usage.learn("n", points([pod("a")], quarters(NOW, 1)), now=NOW + 15)
    settle(usage, NOW + 2 * HOUR)
    usage.learn("n", points([pod("a")], quarters(NOW + 2 * HOUR, 1)), now=NOW + 2 * HOUR)
    used = sum(
        m.nbytes
        for m in (*usage.minutes.matrices(), *usage.days.matrices(), *usage.weeks.matrices())
    )
    assert used < 10_500
    assert (minutes.CELLS, days.CELLS, weeks.SLOTS) == (120, 300, 168)
