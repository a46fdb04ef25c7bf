"""A season is found where there is one, and where it cannot be told the reason is given."""

import numpy as np
import pytest
from nemutator_controller.seasons.experts import Numbers
from nemutator_controller.seasons.verdicts import verdict_of

SLOTS = 288
DAY = 1.0 + np.sin(2 * np.pi * np.arange(SLOTS) / SLOTS)


def waves(days: int, *, noise: float = 0.0) -> Numbers:
    rng = np.random.default_rng(5)
    return np.maximum(DAY + noise * rng.normal(size=(days, SLOTS)), 0.0)


def without(days: Numbers, gap: slice) -> Numbers:
    found = days.copy()
    found[gap] = np.nan
    return found


def stepped() -> Numbers:
    days = 1.0 + 0.05 * np.random.default_rng(5).normal(size=(14, SLOTS))
    days[-1] += 4.0
    return days


def test_a_wave_has_a_season_with_a_measured_forecast() -> None:
    found = verdict_of(waves(14, noise=0.3), lead=6)

    assert found.seasonal is True
    assert found.skill is not None
    assert found.skill > 0.3
    assert found.coverage is not None
    assert found.plan is not None
    assert set(found.plan.seasons) == {"off-peak", "pre-peak", "peak"}


@pytest.mark.parametrize(
    ("days", "reason"),
    [
        (without(waves(14), slice(12)), "2 whole days of use are known, and 4 are needed"),
        (without(waves(14), slice(14)), "no whole day of use is known yet"),
        (without(waves(21), slice(14, 21)), "nothing is known of 7 of the last 7 days"),
        (stepped(), "its level changed from 1"),
    ],
)
def test_what_cannot_be_told_says_why(days: Numbers, reason: str) -> None:
    found = verdict_of(days, lead=6)

    assert found.seasonal is None
    assert found.reason.startswith(reason)


def test_zeros_have_no_season() -> None:
    found = verdict_of(np.zeros((14, SLOTS)), lead=6)

    assert (found.seasonal, found.reason) == (False, "it uses nothing")


def test_noise_has_no_season_whatever_its_seed() -> None:
    for seed in range(60):
        days = np.abs(1.0 + 0.3 * np.random.default_rng(seed).normal(size=(10, 48)))
        assert verdict_of(days, lead=1).seasonal is not True


def test_a_flat_day_is_called_flat() -> None:
    found = verdict_of(10.0 + waves(14), lead=6)

    assert found.seasonal is False
    assert found.reason.startswith("its day is flat")


def test_holes_and_a_lost_day_do_not_hide_a_season() -> None:
    days = waves(14, noise=0.1)
    days[3:9, 40:70] = np.nan
    days[10] = np.nan

    assert verdict_of(days, lead=6).seasonal is True
