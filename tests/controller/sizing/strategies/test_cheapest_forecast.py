import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.strategies import cheapest_forecast
from nemutator_controller.sizing.strategies.cheapest_forecast import MARGINS, next_request
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse


def _use(hours: np.ndarray) -> RecordedUse:
    return RecordedUse("web", 1800, np.repeat(hours, 2)[np.newaxis])


def test_steady_use_is_requested_as_it_is_and_never_changed() -> None:
    requested = cheapest_forecast.cpu(_use(np.full(24 * 8, 2.0)))
    assert np.isnan(requested[0])
    assert requested[1:].tolist()[-1] == pytest.approx(2.0, rel=0.11)
    assert np.count_nonzero(np.diff(requested[48:])) <= 2


def test_a_day_and_night_are_followed_ahead_of_time() -> None:
    day = np.where((np.arange(24) >= 8) & (np.arange(24) < 20), 10.0, 1.0)
    requested = cheapest_forecast.cpu(_use(np.tile(day, 12)))
    last = requested[-24:]
    assert (last >= np.tile(day, 1) * 0.89).all(), "it is there when the day begins"
    assert last.sum() < 24 * 10 * 0.75
    assert np.count_nonzero(np.diff(last)) <= 4


def test_a_spike_without_a_pattern_does_not_stay_for_long() -> None:
    hours = np.ones(24 * 14)
    hours[24 * 10 + 5] = 50.0
    requested = cheapest_forecast.cpu(_use(hours))
    assert requested[-1] < 10.0


def test_hours_without_a_pod_change_nothing() -> None:
    hours = np.full(24 * 6, 3.0)
    hours[60:100] = np.nan
    requested = cheapest_forecast.cpu(_use(hours))
    assert not np.isnan(requested[1:]).any()
    assert requested[80] == requested[60]


def test_who_was_never_seen_gets_no_request() -> None:
    assert np.isnan(cheapest_forecast.cpu(_use(np.full(30, np.nan)))).all()


PRICE = 20.0
EXACT = np.maximum(MARGINS - 1, 0) + PRICE * np.maximum(1 - MARGINS, 0)
"""What each margin costs where a forecast is right."""
UNSURE = EXACT + 4.0 * np.maximum(1.5 - MARGINS, 0)
"""Where it is half too low now and then."""


def test_a_request_stays_where_a_change_costs_more_than_it_brings() -> None:
    needs = np.full(8, 1.0)
    assert next_request(needs, EXACT, 1.5, price=PRICE, change_cost=20.0) == 1.5
    changed = next_request(needs, EXACT, 1.5, price=PRICE, change_cost=0.5)
    assert changed == pytest.approx(1.0, rel=0.02)


def test_what_is_needed_is_raised_at_once_and_left_for_a_short_dip() -> None:
    needs = np.full(8, 5.0)
    raised = next_request(needs, EXACT, 1.0, price=PRICE, change_cost=10.0)
    assert raised == pytest.approx(5.0, rel=0.02)
    needs[:2] = 1.0
    assert next_request(needs, EXACT, 5.0, price=PRICE, change_cost=10.0) == 5.0


def test_the_less_a_forecast_was_right_the_more_is_requested_above_it() -> None:
    needs = np.full(8, 1.0)
    first = next_request(needs, EXACT, np.nan, price=PRICE, change_cost=1.0)
    assert first == pytest.approx(1.0, rel=0.02)
    unsure = next_request(needs, UNSURE, np.nan, price=PRICE, change_cost=1.0)
    assert unsure == pytest.approx(1.5, rel=0.02)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), hour=st.integers(1, 47))
def test_a_request_knows_only_what_was_before_its_hour(seed: int, hour: int) -> None:
    random = np.random.default_rng(seed)
    one = random.exponential(1.0, (1, 48 * 2))
    other = one.copy()
    other[:, hour * 2 :] *= random.exponential(5.0, (1, (48 - hour) * 2))
    requested = [cheapest_forecast.cpu(RecordedUse("web", 1800, use)) for use in (one, other)]
    np.testing.assert_array_equal(requested[0][: hour + 1], requested[1][: hour + 1])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), times=st.sampled_from([0.25, 8.0, 1024.0]))
def test_twice_the_use_is_twice_the_request(seed: int, times: float) -> None:
    use = np.random.default_rng(seed).uniform(1.0, 3.0, (1, 72))
    requested, more = (
        cheapest_forecast.cpu(RecordedUse("web", 1800, used)) for used in (use, use * times)
    )
    np.testing.assert_allclose(more, requested * times)
