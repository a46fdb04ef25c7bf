import numpy as np
import pytest
from nemutator_controller.sizing.strategies import cheapest_forecast
from nemutator_controller.sizing.strategies.cheapest_forecast import next_request
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


def test_a_request_stays_where_a_change_costs_more_than_it_brings() -> None:
    needs = np.full(22, 1.0)
    assert next_request(needs, 1.5, change_cost=20.0) == 1.5
    assert next_request(needs, 1.5, change_cost=2.0) == 1.0


def test_what_is_needed_is_raised_at_once_and_left_for_a_short_dip() -> None:
    needs = np.full(22, 5.0)
    assert next_request(needs, 1.0, change_cost=10.0) == 5.0
    needs[:2] = 1.0
    assert next_request(needs, 5.0, change_cost=10.0) == 5.0
