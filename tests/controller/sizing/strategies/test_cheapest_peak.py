import numpy as np
import pytest
from nemutator_controller.sizing.strategies import cheapest_peak, peaks
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse

DAYS = 20


def _use(hours: np.ndarray) -> RecordedUse:
    return RecordedUse("web", 1800, np.repeat(hours, 2)[np.newaxis])


def test_in_the_first_week_the_margin_goes_by_age() -> None:
    use = _use(np.full(24 * 8, 1e9))
    wanted, steady = cheapest_peak.memory(use), peaks.memory(use)
    assert np.isnan(wanted[0])
    np.testing.assert_allclose(wanted[1:168], steady[1:168], rtol=0.12)


def test_steady_use_gets_what_is_asked_for_above_it_and_no_change() -> None:
    wanted = cheapest_peak.memory(_use(np.full(24 * DAYS, 1e9)), 1.1)
    assert wanted[-1] == pytest.approx(1.1e9)
    assert not np.diff(wanted[24 * 8 :]).any()


def test_a_peak_that_did_not_come_again_is_not_paid_for_two_weeks() -> None:
    hours = np.full(24 * DAYS, 1e9)
    hours[24 * 9] = 5e9
    wanted = cheapest_peak.memory(_use(hours))
    assert wanted[24 * 9 + 1] >= 5e9
    assert wanted[-1] < 2e9


def test_who_needs_more_each_night_has_it_before_and_gives_it_back() -> None:
    night = np.where(np.arange(24) == 3, 3e9, 1e9)
    last = cheapest_peak.memory(_use(np.tile(night, DAYS)))[-24:]
    assert last[3] >= 3e9
    assert last[12] < 2e9


def test_who_is_less_steady_gets_more_above_what_is_expected() -> None:
    random = np.random.default_rng(17)
    steady, unsteady = (1e9 * np.exp(random.normal(0, sigma, 24 * DAYS)) for sigma in (0.01, 0.3))
    above = [
        cheapest_peak.memory(_use(one))[-24:].mean() / np.median(one) for one in (steady, unsteady)
    ]
    assert above[1] > 1.2 * above[0]


def test_nothing_is_requested_far_above_what_was_ever_needed() -> None:
    random = np.random.default_rng(3)
    hours = 1e9 * random.uniform(1, 4, 24 * DAYS)
    wanted = cheapest_peak.memory(_use(hours), 2.0)
    most = cheapest_peak.CAP * hours.max()
    # What is a little too much stays.
    assert np.nanmax(wanted[168:]) <= most / (1 - cheapest_peak.LOWERED)


def test_hours_without_a_pod_change_nothing() -> None:
    hours = np.full(24 * DAYS, 1e9)
    hours[24 * 10 : 24 * 13] = np.nan
    wanted = cheapest_peak.memory(_use(hours))
    assert wanted[24 * 12] == wanted[24 * 10]
    assert not np.isnan(wanted[1:]).any()


def test_who_was_never_seen_gets_no_request() -> None:
    assert np.isnan(cheapest_peak.memory(_use(np.full(48, np.nan)))).all()


def test_who_used_nothing_for_days_gets_the_least_and_then_what_it_needs() -> None:
    hours = np.zeros(24 * DAYS)
    hours[24 * 14 :] = 1e9
    wanted = cheapest_peak.memory(_use(hours))
    assert wanted[24 * 14] == peaks.LEAST_BYTES
    assert wanted[24 * 14 + 1] >= 1e9
    assert 1e9 <= wanted[-1] <= 1.25e9


def test_who_never_used_anything_gets_the_least() -> None:
    assert cheapest_peak.memory(_use(np.zeros(24 * DAYS)))[-1] == peaks.LEAST_BYTES
