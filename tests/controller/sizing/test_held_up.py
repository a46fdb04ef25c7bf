import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.held_up import HALF_LIFE_S, joined, still_counting


def test_half_of_it_counts_after_six_hours_and_nothing_where_nothing_is_known() -> None:
    ago = np.array([0.0, HALF_LIFE_S, 2 * HALF_LIFE_S, 0.0, -5.0])
    known = np.array([True, True, True, False, True])
    assert still_counting(ago, known=known).tolist() == [1.0, 0.5, 0.25, 0.0, 1.0]


def test_no_time_is_too_long_for_a_number() -> None:
    assert still_counting(np.array([1e300]), known=np.array([True]))[0] == pytest.approx(0.0)


def test_the_highest_of_a_row_counts_and_what_is_not_known_changes_nothing() -> None:
    was = np.array([0.2, 0.3])
    shares = np.array([0.1, 0.6, math.nan, math.nan])
    found = joined(was, shares, np.array([0, 3]), np.array([0.5, 0.5]))
    assert found.tolist() == [0.4, 0.3]


@given(
    st.floats(0.0, 1.0),
    st.lists(st.floats(0.0, 1e12) | st.just(math.nan), min_size=1, max_size=5),
    st.floats(0.0, 1.0),
)
def test_it_is_never_more_than_all_of_the_time(
    was: float, shares: list[float], counting: float
) -> None:
    [found] = joined(np.array([was]), np.array(shares), np.array([0]), np.array([counting]))
    assert 0.0 <= found <= 1.0
