import numpy as np
import pytest
from nemutator_controller.sizing.strategies import given, peaks
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

STEP_S = 300
PER_HOUR = 12


def use(*hours: float) -> RecordedUse:
    """A pod that uses the same in all of an hour."""
    return RecordedUse("web", STEP_S, np.repeat(np.array([hours]), PER_HOUR, axis=1))


def changed(requested: Numbers) -> list[int]:
    return [hour for hour in range(1, len(requested)) if requested[hour] != requested[hour - 1]]


def test_nothing_is_given_before_advice_is_firm() -> None:
    requested = given.cpu(use(*[0.5] * 24))
    # A hundred points are eight hours and a third.
    assert np.isnan(requested[:9]).all()
    assert requested[9] == pytest.approx(0.5, rel=0.06)
    assert changed(requested[9:]) == []


def test_a_change_at_most_doubles_and_comes_once_in_an_hour() -> None:
    requested = given.cpu(use(*[0.1] * 48, *[4.0] * 24))
    grown = requested[48:]
    ratios = grown[1:] / grown[:-1]
    assert ratios.max() == pytest.approx(2.0)
    assert grown[-1] >= 4.0


def test_what_differs_by_less_than_a_tenth_stays() -> None:
    assert changed(given.cpu(use(*[1.0] * 48, *[1.02] * 48))[9:]) == []


def test_memory_is_what_is_advised_and_never_becomes_less() -> None:
    hours = use(*[1e9] * 24, *[4e9] * 3, *[1e9] * 30)
    requested = given.memory(hours)
    told = requested[~np.isnan(requested)]
    assert (np.diff(told) >= 0).all()
    # The margin of the first day is the largest; after that the peak is what counts.
    assert requested[9] == pytest.approx(peaks.memory(hours)[9], rel=0.01)
    assert told[-1] >= 4e9


def test_the_busiest_pod_decides() -> None:
    pods = np.full((10, 48 * PER_HOUR), 0.1)
    pods[3] = 2.0
    assert given.cpu(RecordedUse("web", STEP_S, pods))[-1] >= 2.0


def test_an_hour_is_decided_by_what_was_before_it_alone() -> None:
    pods = np.random.default_rng(17).random((2, 30 * PER_HOUR))
    other = pods.copy()
    other[:, 20 * PER_HOUR :] *= 5
    one, two = (given.cpu(RecordedUse("web", STEP_S, each)) for each in (pods, other))
    assert not np.isnan(one[20])
    np.testing.assert_array_equal(one[:21], two[:21])
    assert not np.array_equal(one[21:], two[21:])


def test_more_is_asked_for_with_a_larger_number() -> None:
    hours = use(*np.random.default_rng(17).random(40) * 2e9)
    assert given.memory(hours, 0.0)[-1] < given.memory(hours, 40.0)[-1]
    assert given.cpu(use(*[0.1, 1.0] * 20), 40.0)[-1] < given.cpu(use(*[0.1, 1.0] * 20), 95.0)[-1]
