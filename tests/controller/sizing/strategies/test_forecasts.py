import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.strategies.forecasts import (
    AHEAD_HOURS,
    AROUND,
    GROWING,
    LATELY_HOURS,
    LEVEL_HOURS,
    SAME_HOUR,
    SCALED,
    forecasts,
)

COARSE = len(AROUND) + 2
"""By the peaks of whole hours: around an hour, a week ago, and a week ago or yesterday."""


def _daily(days: int) -> np.ndarray:
    """Each hour of a day uses its own number plus one, the same each day."""
    return np.tile(np.arange(1.0, 25.0), days)[:, np.newaxis] * np.ones((1, 2))


def test_what_was_used_lately_is_expected_for_all_hours_ahead() -> None:
    found = forecasts(_daily(2))
    assert found.shape == (
        len(LATELY_HOURS) + 3 * len(SAME_HOUR) + COARSE + len(SCALED) * len(LEVEL_HOURS) + GROWING,
        48,
        AHEAD_HOURS,
    )
    assert found[0, 30].tolist() == [6.0] * AHEAD_HOURS
    assert found[1, 30].tolist() == [6.0] * AHEAD_HOURS
    assert found[3, 30].tolist() == [24.0] * AHEAD_HOURS


def test_a_day_like_the_ones_before_is_foreseen() -> None:
    found = forecasts(_daily(9))
    begin, ahead = 8 * 24 + 3, np.arange(AHEAD_HOURS)
    for number in range(len(SAME_HOUR)):
        seen = found[len(LATELY_HOURS) + number, begin]
        assert seen.tolist() == ((begin + ahead) % 24 + 1).tolist()


def test_what_comes_an_hour_early_is_foreseen_by_the_hours_around() -> None:
    use = np.ones((24 * 8, 2))
    # At 9, and at 10 on every other day.
    use[[24 * day + 9 + day % 2 for day in range(8)]] = 7.0
    found = forecasts(use)[len(LATELY_HOURS) + 3 * len(SAME_HOUR) :, 24 * 7 + 8]
    around = found[:COARSE]
    # A third of the hours around 9 and 10 are busy, a sixth of those around 8 and 11.
    assert around[0, :4].tolist() == [1.0, 7.0, 7.0, 1.0]
    assert around[2, :4].tolist() == [7.0, 7.0, 7.0, 7.0]


def test_a_week_ago_and_yesterday_are_foreseen_by_their_peaks() -> None:
    use = np.ones((24 * 8, 2))
    use[5, 1], use[24 * 6 + 6, 0] = 3.0, 4.0
    before = len(LATELY_HOURS) + 3 * len(SAME_HOUR) + len(AROUND)
    week, either = forecasts(use)[before : before + 2, 24 * 7 + 4]
    assert week[:4].tolist() == [1.0, 3.0, 1.0, 1.0]
    assert either[:4].tolist() == [1.0, 3.0, 4.0, 1.0]


def test_without_yesterday_the_last_hour_has_to_do() -> None:
    found = forecasts(_daily(1))
    # 4 hours ahead it is hour 0 again, which is known.
    assert found[len(LATELY_HOURS), 20].tolist() == [20.0] * 4 + [1.0, 2.0, 3.0, 4.0]


def test_a_day_that_is_twice_as_busy_as_usual_is_foreseen_at_its_level() -> None:
    use = _daily(9)
    use[8 * 24 :] *= 2
    now = 8 * 24 + 12
    scaled = forecasts(use)[-(GROWING + len(SCALED) * len(LEVEL_HOURS)) : -GROWING, now]
    # By the last two hours, which count less with each hour ahead; no one hour is above its own usual.
    assert scaled[0][0] == 2 * 13
    assert 14 < scaled[0][1] < 2 * 14


def test_what_doubles_each_hour_is_expected_to_go_on() -> None:
    use = 2.0 ** np.arange(8.0)[:, np.newaxis] * np.ones((1, 2))
    growing = forecasts(use)[-GROWING:, 7, 0]
    assert growing.tolist() == [64.0, 64.0, 128.0, 128.0, 48.0]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), hour=st.integers(1, 60))
def test_an_hour_is_foreseen_by_what_was_before_it_alone(seed: int, hour: int) -> None:
    random = np.random.default_rng(seed)
    one = random.random((61, 3))
    one[random.random(one.shape) < 0.1] = np.nan
    other = one.copy()
    other[hour:] = random.random((61 - hour, 3))
    np.testing.assert_array_equal(forecasts(one)[:, : hour + 1], forecasts(other)[:, : hour + 1])
