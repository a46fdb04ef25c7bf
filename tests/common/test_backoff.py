"""How long to wait: growing, capped, never at once and never all together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.backoff import Backoff, spread_s

BACKOFF = Backoff(first_s=0.8, longest_s=30.0)
rolls = st.floats(0, 1, exclude_max=True)


def test_without_a_failure_there_is_no_wait() -> None:
    assert BACKOFF.delay_s(0, roll=0.5) == 0


@given(st.integers(1, 10**9), rolls)
def test_it_stays_between_half_a_step_and_the_cap(failures: int, roll: float) -> None:
    assert 0.4 <= BACKOFF.delay_s(failures, roll=roll) <= 30.0


@given(st.integers(1, 2000), rolls)
def test_more_failures_never_wait_less_for_the_same_roll(failures: int, roll: float) -> None:
    assert BACKOFF.delay_s(failures + 1, roll=roll) >= BACKOFF.delay_s(failures, roll=roll)


def test_steps_double_until_the_cap() -> None:
    steps = [BACKOFF.delay_s(failures, roll=0.0) * 2 for failures in range(1, 9)]
    assert steps == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_the_roll_spreads_over_the_upper_half_of_the_step() -> None:
    assert BACKOFF.delay_s(1, roll=0.0) == 0.4
    assert BACKOFF.delay_s(1, roll=0.5) == pytest.approx(0.6)


@given(st.integers(1, 10**9), rolls)
def test_thousands_of_clients_spread_over_almost_the_whole_step(failures: int, roll: float) -> None:
    spread = Backoff(first_s=0.8, longest_s=30.0, fixed=0.1)
    step = spread.delay_s(failures, roll=0.0) / 0.1
    assert spread.delay_s(failures, roll=roll) == pytest.approx(step * (0.1 + 0.9 * roll))


@given(st.floats(0, 60), rolls)
def test_whoever_is_asked_to_come_later_comes_neither_earlier_nor_with_all_others(
    asked_s: float, roll: float
) -> None:
    assert asked_s <= spread_s(asked_s, roll=roll) <= 2 * asked_s
