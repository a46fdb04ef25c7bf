"""Forecasts follow the experts that were right, and intervals hold as many points as they say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nemutator_controller.seasons.backtests import COVERAGE, Backtest
from nemutator_controller.seasons.experts import Numbers

SLOTS = 48

some_days = st.integers(2, 12).flatmap(
    lambda count: arrays(
        np.float64, (count, 24), elements=st.floats(0, 1e6, allow_nan=False, width=32)
    )
)


def waves(days: int, *, noise: float, seed: int = 3) -> Numbers:
    day = 2.0 + np.sin(2 * np.pi * np.arange(SLOTS) / SLOTS)
    rng = np.random.default_rng(seed)
    return np.maximum(day + noise * rng.normal(size=(days, SLOTS)), 0.0)


@given(some_days)
@settings(max_examples=40)
def test_the_next_day_lies_within_its_interval_and_is_not_less_than_nothing(days: Numbers) -> None:
    said = Backtest(days).next_day()

    assert np.isfinite(said.expected).all()
    assert (said.lower >= 0).all()
    assert (said.lower <= said.expected + 1e-6 * (1 + said.expected)).all()
    assert (said.upper >= said.expected - 1e-6 * (1 + said.expected)).all()


def test_what_is_forecast_of_a_day_that_is_over_rests_on_days_before_it_alone() -> None:
    days = waves(9, noise=0.3)
    later = days.copy()
    later[6:] = 99.0

    one, other = Backtest(days).past_days(), Backtest(later).past_days()

    # Of the days from the fourth: the seventh is the first that differs, and only as what is foretold.
    for before, after in zip(one[:4], other[:4], strict=True):
        assert np.array_equal(before.expected, after.expected)
        assert np.array_equal(before.upper, after.upper)


def test_a_week_is_followed_where_weekdays_differ() -> None:
    days = waves(21, noise=0.0)
    days[5::7] *= 0.1
    days[6::7] *= 0.1

    said = Backtest(days[:19]).next_day()

    assert np.abs(said.expected - days[19]).sum() < 0.5 * np.abs(days[18] - days[19]).sum()


def test_use_that_grows_from_day_to_day_is_followed_as_far_as_it_was_the_last_day() -> None:
    growth = 1.1
    days = waves(15, noise=0.02) * growth ** np.arange(15)[:, np.newaxis]

    said = Backtest(days[:14]).next_day()
    error = np.abs(said.expected - days[14]).sum() / days[14].sum()
    of_a_week = np.abs(np.median(days[7:14], axis=0) - days[14]).sum() / days[14].sum()

    # What it grows by in one day, and the noise; the middle of a week is four days behind.
    assert error < growth - 1 + 0.02
    assert of_a_week > 0.25


def test_the_interval_holds_as_many_points_as_it_says() -> None:
    found = [
        coverage
        for seed in range(10)
        if (coverage := Backtest(waves(16, noise=0.3, seed=seed)).coverage()) is not None
    ]

    assert abs(float(np.mean(found)) - COVERAGE) < 0.05


def test_a_wave_has_skill_and_noise_and_steps_have_none() -> None:
    step = np.full((12, SLOTS), 1.0) + waves(12, noise=0.01) * 0.01
    step[8:] += 5.0

    wave, noise = Backtest(waves(12, noise=0.3)).skill(), Backtest(waves(12, noise=0.0) * 0 + 1)

    assert wave is not None
    assert wave > 0.3
    assert noise.skill() is None or noise.skill() == 0.0
    stepped = Backtest(step).skill()
    assert stepped is not None
    assert stepped < 0.3


def test_two_days_have_no_skill_and_no_coverage() -> None:
    backtest = Backtest(waves(2, noise=0.1))

    assert backtest.skill() is None
    assert backtest.coverage() is None
