import numpy as np
import pytest
from nemutator_controller.sizing.strategies.forecasts import (
    AHEAD_HOURS,
    BY_DAYS,
    COUNT,
    HIGH,
    KEPT_HOURS,
    OFTEN_RIGHT,
    SIMPLE,
    UNLIKE,
    LastHour,
    forecasts,
    simple_forecasts,
)

AHEAD = np.arange(AHEAD_HOURS)


def _of(hours: np.ndarray) -> tuple[np.ndarray, int, LastHour]:
    """What is known after *hours* of one container."""
    peaks = np.full((1, KEPT_HOURS), np.nan, dtype=np.float32)
    for hour, value in enumerate(hours):
        peaks[0, hour % KEPT_HOURS] = value
    last = np.array([hours[-1]], dtype=np.float64)
    return peaks, len(hours), LastHour(last, last, last)


def _simple(hours: np.ndarray) -> dict[str, list[float]]:
    return {name: one[0].tolist() for name, one in simple_forecasts(*_of(hours)).items()}


def _daily(days: int, more: int = 0) -> np.ndarray:
    """Each hour of a day uses its own number plus one, the same each day."""
    return np.tile(np.arange(1.0, 25.0), days + 1)[: days * 24 + more]


def test_all_that_are_named_are_forecast() -> None:
    assert {*OFTEN_RIGHT, *BY_DAYS, *UNLIKE, *HIGH} <= set(SIMPLE)
    assert forecasts(*_of(_daily(2))).shape == (1, COUNT, AHEAD_HOURS)
    assert tuple(_simple(_daily(2))) == SIMPLE


def test_what_was_used_lately_is_expected_for_all_hours_ahead() -> None:
    found = _simple(_daily(2, 6))
    assert found["1 hour"] == found["3 hours"] == [6.0] * AHEAD_HOURS
    assert found["a day"] == [24.0] * AHEAD_HOURS


@pytest.mark.parametrize("days", [2, 8, 9, 20])
def test_a_day_like_the_ones_before_is_foreseen(days: int) -> None:
    expected = ((3 + AHEAD) % 24 + 1).tolist()
    found = _simple(_daily(days, 3))
    for name in ("yesterday", "3 days' median", "3 days' most", "week's median", "week's most"):
        assert found[name] == expected
    if days > 7:
        assert found["a week ago"] == expected
        np.testing.assert_allclose(found["week at a day's level"], expected)


def test_a_day_at_twice_the_level_is_foreseen_at_that_level() -> None:
    hours = _daily(9, 12)
    hours[-24:] *= 2
    found = _simple(hours)
    np.testing.assert_allclose(found["week at a day's level"], 2.0 * (12 + AHEAD + 1))
    assert found["week at 2 hours' level"][0] == pytest.approx(26.0)
    assert found["week at 2 hours' level"][7] < 2 * 20


def test_what_comes_an_hour_early_is_foreseen_by_the_hours_around() -> None:
    use = np.ones(24 * 8)
    # At 9, and at 10 on every other day.
    use[[24 * day + 9 + day % 2 for day in range(8)]] = 7.0
    found = _simple(use[: 24 * 7 + 8])
    # A third of the hours around 9 and 10 are busy, a sixth of those around 8 and 11.
    assert found["around in a week, high"][:4] == [1.0, 7.0, 7.0, 1.0]
    assert found["around in a week"] == [1.0] * AHEAD_HOURS


def test_what_grows_is_expected_to_grow() -> None:
    found = _simple(np.array([2.0, 3.0]))
    assert found["growing"] == [4.5] * AHEAD_HOURS
    assert _simple(np.array([2.0, 30.0]))["growing"] == [90.0] * AHEAD_HOURS


def test_without_days_before_all_say_what_is_used_now() -> None:
    assert (forecasts(*_of(np.array([5.0]))) == 5.0).all()


def test_who_was_never_seen_gets_none() -> None:
    assert np.isnan(forecasts(*_of(np.full(3, np.nan)))).all()


def test_most_forecasts_stay_below_the_last_ones() -> None:
    random = np.random.default_rng(3)
    known = _of(random.exponential(1.0, 24 * 9))
    simple = np.stack([one[0] for one in simple_forecasts(*known).values()])
    below = (simple <= forecasts(*known)[0, len(OFTEN_RIGHT)] + 1e-12).mean(axis=0)
    assert ((below > 0.5) & (below < 0.75)).all()
