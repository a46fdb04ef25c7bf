import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ageing.trends import SeriesPoint, trend

HOUR_S = 3_600.0
VALUES = st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=30)


def hourly(values: list[float]) -> list[SeriesPoint]:
    return [SeriesPoint(place * HOUR_S, value) for place, value in enumerate(values)]


@given(VALUES, st.floats(-1e3, 1e3))
def test_a_constant_changes_nothing_and_a_slope_is_added(values: list[float], slope: float) -> None:
    plain = trend([hourly(values)])
    tilted = trend([[SeriesPoint(at, value + slope * at + 7) for at, value in hourly(values)]])
    assert plain is not None
    assert tilted is not None
    assert tilted.slope == pytest.approx(plain.slope + slope, rel=1e-6, abs=1e-2)


@given(VALUES)
def test_what_falls_is_what_rises_upside_down(values: list[float]) -> None:
    up, down = trend([hourly(values)]), trend([hourly([-one for one in values])])
    assert up is not None
    assert down is not None
    assert down.slope == pytest.approx(-up.slope)
    assert down.z == pytest.approx(-up.z)
    assert up.p + down.p == pytest.approx(1.0)


def test_one_outlier_does_not_move_the_slope() -> None:
    values = [float(place) for place in range(20)]
    values[10] = 1e6
    found = trend([hourly(values)])
    assert found is not None
    assert found.slope == pytest.approx(1 / HOUR_S, rel=0.05)


def test_neighbours_that_resemble_each_other_are_worth_fewer_points() -> None:
    dice = random.Random(3)
    white = [dice.gauss(0, 1) + place / 60 for place in range(200)]
    walk = [0.0]
    for shock in white:
        walk.append(0.95 * walk[-1] + shock - len(walk) / 60)
    alone, beside = trend([hourly(white)]), trend([hourly([one / 5 for one in walk])])
    assert alone is not None
    assert beside is not None
    assert alone.p < 1e-6
    assert beside.p > 1e-3


def test_points_that_cannot_be_compared_have_no_trend() -> None:
    assert trend([]) is None
    assert trend([[SeriesPoint(0, 1)], [SeriesPoint(0, 9)]]) is None
