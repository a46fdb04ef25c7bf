import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.held_up import HALF_LIFE_S, joined, note, still_counting
from nemutator_controller.sizing.samples import UsageSamples


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


def test_each_row_has_its_own_and_what_nobody_tells_of_stays() -> None:
    fields = ("last_at", "throttled", "cpu_waiting", "memory_waiting")
    state = np.zeros(3, dtype=[("points", np.int64), *((name, np.float64) for name in fields)])
    state[1] = (5, 1_000.0, 0.8, 0.4, 0.2)
    at = np.array([1_000.0 + HALF_LIFE_S, 1_000.0])
    samples = UsageSamples(
        keys=[],
        of=np.array([-1, -1], dtype=np.intp),
        from_at=at - 15,
        to_at=at,
        cpu_cores=np.ones(2),
        memory_bytes=np.ones(2),
        replicas=np.zeros(2, dtype=np.int64),
        throttled=np.array([0.0, 0.6]),
        kills=np.zeros(2),
        requested=np.zeros(2),
        cpu_waiting=np.array([math.nan, 0.5]),
    )
    note(state, np.array([1, 2]), samples, np.array([0, 1]), np.array([0, 1]), at)
    assert state[["throttled", "cpu_waiting", "memory_waiting"]].tolist() == [
        (0.0, 0.0, 0.0),
        (0.4, 0.4, 0.2),
        (0.6, 0.5, 0.0),
    ]
