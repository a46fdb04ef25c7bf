import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.history.figures import CPU, FIGURES, MEMORY
from nemutator_controller.history.weeks import (
    PERIOD_WEEKS,
    SHARES,
    SLOTS,
    Weeks,
    merge,
    slot_of,
    week_of,
)

MONDAY = 2_837 * SLOTS - 72
"""Some Monday, 00:00 UTC, in hours since the epoch."""


def hour_of(weeks: Weeks, hour: int, *values: float, row: int = 0) -> None:
    """An hour in which one row used this."""
    assert weeks.begin(hour, used=weeks.rows)
    weeks.fold(slice(row, row + 1), hour, {CPU.name: np.array([values])})


def usual(weeks: Weeks, name: str, slot: int = 0) -> float:
    return float(weeks.view(0).figures[CPU.name][name][slot])


def test_the_week_begins_on_monday() -> None:
    assert slot_of(MONDAY) == 0
    assert slot_of(0) == 72  # 1970-01-01 was a Thursday.
    assert [slot_of(MONDAY - 1), slot_of(MONDAY + 167)] == [167, 167]
    assert week_of(MONDAY) == week_of(MONDAY + 167) == week_of(MONDAY - 1) + 1


def test_an_hour_is_its_quantiles_and_its_maximum() -> None:
    weeks = Weeks(FIGURES, 1)
    hour_of(weeks, MONDAY, *np.linspace(1, 2, 60))
    assert weeks.view(0).minutes[0] == 60
    assert usual(weeks, "median") == pytest.approx(1.5, rel=0.05)
    assert usual(weeks, "p95") == pytest.approx(1.95, rel=0.05)
    assert 2.0 <= usual(weeks, "max") < 2.15
    assert np.isnan(usual(weeks, "median", 1))


def test_an_hour_is_folded_once() -> None:
    weeks = Weeks(FIGURES, 1)
    hour_of(weeks, MONDAY, 1.0)
    assert not weeks.begin(MONDAY, used=1)
    assert not weeks.begin(MONDAY - SLOTS, used=1)


@pytest.mark.parametrize("before", [1.0, 8.0])
def test_a_change_of_habits_is_believed_within_five_weeks(before: float) -> None:
    weeks = Weeks(FIGURES, 1)
    for week in range(8):
        hour_of(weeks, MONDAY + week * SLOTS, *[before] * 60)
    seen = []
    for week in range(8, 13):
        hour_of(weeks, MONDAY + week * SLOTS, *[3.0] * 60)
        seen.append(usual(weeks, "median"))
    assert seen[0] == pytest.approx(before, rel=0.05)
    assert seen[-1] == pytest.approx(3.0, rel=0.05)


def test_a_maximum_stays_for_four_weeks_and_goes_within_eight() -> None:
    weeks = Weeks(FIGURES, 1)
    first = MONDAY - week_of(MONDAY) % PERIOD_WEEKS * SLOTS
    hour_of(weeks, first, 9.0)
    seen = []
    for week in range(1, 9):
        hour_of(weeks, first + week * SLOTS, 1.0)
        seen.append(round(usual(weeks, "max")))
    assert seen == [9] * 7 + [1]


def test_an_hour_that_does_not_come_for_months_is_forgotten() -> None:
    weeks = Weeks(FIGURES, 2)
    hour_of(weeks, MONDAY, *[1.0] * 60)
    hour_of(weeks, MONDAY + 30 * SLOTS, 1.0, row=1)
    assert weeks.view(0).minutes[0] == 0
    assert np.isnan(usual(weeks, "median"))
    assert np.isnan(usual(weeks, "max"))


def test_what_the_clock_was_ahead_by_is_folded_again() -> None:
    weeks = Weeks(FIGURES, 1)
    hour_of(weeks, MONDAY + 9 * SLOTS, 1.0)
    weeks.step_back(MONDAY)
    hour_of(weeks, MONDAY, 2.0)


def test_rows_are_apart_and_can_be_cleared() -> None:
    weeks = Weeks(FIGURES, 2)
    assert weeks.begin(MONDAY, used=2)
    weeks.fold(slice(0, 2), MONDAY, {MEMORY.name: np.array([[1e9], [2e9]])})
    weeks.clear_row(0)
    assert np.isnan(weeks.view(0).figures[MEMORY.name]["median"][0])
    assert weeks.view(1).figures[MEMORY.name]["median"][0] == pytest.approx(2e9, rel=0.04)


values = st.floats(1e-3, 1e3)


@given(st.lists(st.floats(0.01, 100), min_size=4, max_size=4), st.floats(1, 200))
def test_a_sketch_to_which_nothing_is_added_stays_what_it_is(
    raw: list[float], weight: float
) -> None:
    quantiles = np.sort(np.array([raw]), axis=1)
    nothing = np.full((1, 60), np.nan)
    assert merge(quantiles, np.array([weight]), nothing).tolist() == quantiles.tolist()


@given(st.lists(values, min_size=1, max_size=60))
def test_without_a_past_quantiles_are_those_of_the_minutes(minutes: list[float]) -> None:
    found = merge(np.full((1, 4), np.nan), np.zeros(1), np.array([minutes]))[0]
    expected = np.quantile(minutes, SHARES, method="inverted_cdf")
    assert found.tolist() == expected.tolist()


@given(
    st.lists(
        st.lists(st.one_of(values, st.just(float("nan"))), min_size=5, max_size=5), min_size=1
    ),
    st.lists(values, min_size=4, max_size=4),
)
def test_quantiles_are_in_order_and_within_what_was_seen(
    minutes: list[list[float]], raw: list[float]
) -> None:
    old = np.sort(np.array([raw] * len(minutes)), axis=1)
    found = merge(old, np.full(len(minutes), 60.0), np.array(minutes))
    assert (np.diff(found, axis=1) >= 0).all()
    highest = np.fmax(old.max(axis=1), np.fmax.reduce(np.array(minutes), axis=1))
    assert (found.max(axis=1) <= highest * 1.0001).all()


def test_weeks_of_the_same_noise_come_to_its_quantiles() -> None:
    noise = np.random.default_rng(7)
    weeks = Weeks(FIGURES, 1)
    for week in range(30):
        hour_of(weeks, MONDAY + week * SLOTS, *noise.lognormal(0.0, 0.5, 60))
    assert usual(weeks, "median") == pytest.approx(1.0, rel=0.15)
    assert usual(weeks, "p95") == pytest.approx(2.28, rel=0.2)
