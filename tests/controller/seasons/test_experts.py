"""Experts say a sound day of any sound days, and know the repetitions that they are named after."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nemutator_controller.seasons.experts import EXPERTS, Numbers, expert_days

some_days = st.integers(1, 16).flatmap(
    lambda count: arrays(
        np.float64, (count, 24), elements=st.floats(0, 1e6, allow_nan=False, width=32)
    )
)


@given(some_days)
def test_each_says_a_day_without_gaps_or_less_than_nothing(days: Numbers) -> None:
    said = expert_days(days)

    assert said.shape == (len(EXPERTS), 24)
    assert np.isfinite(said).all()
    assert (said >= 0).all()


@given(some_days, st.floats(0.01, 100))
def test_they_do_not_depend_on_the_unit(days: Numbers, unit: float) -> None:
    level = max(float(days.max()), 1.0)

    assert np.allclose(expert_days(days * unit), expert_days(days) * unit, atol=1e-6 * level * unit)


@pytest.mark.parametrize("name", ["last", "median7", "week", "weeks", "shape_at_last"])
def test_what_repeats_each_day_is_said_exactly(name: str) -> None:
    day = 1.0 + np.arange(24.0)

    said = expert_days(np.tile(day, (15, 1)))[EXPERTS.index(name)]

    assert np.allclose(said, day)


def test_the_same_day_of_last_week_is_known() -> None:
    days = np.repeat(np.arange(14.0), 24).reshape(14, 24)

    said = dict(zip(EXPERTS, expert_days(days), strict=True))

    assert said["week"][0] == 7.0
    assert said["last"][0] == 13.0
    assert said["weeks"][0] == 3.5
