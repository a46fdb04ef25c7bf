import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.neighbours.co_movement import (
    LEAST_MINUTES,
    clipped,
    co_movement,
    correlations,
    effective,
    follows,
)

MINUTES = 59


def bursts(dice: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.repeat(dice.integers(0, 2, MINUTES // 4 + 1), 4)[:MINUTES].astype(float)


def noise(dice: np.random.Generator) -> npt.NDArray[np.float64]:
    return 0.1 * dice.normal(size=MINUTES)


def test_who_suffers_when_the_other_is_busy_is_found_at_the_minute_that_it_follows() -> None:
    dice = np.random.default_rng(1)
    taken = bursts(dice)
    at_once = co_movement(0.3 * taken + 0.1 * noise(dice) + 0.1, taken)
    assert at_once is not None
    assert (at_once.lag, at_once.minutes) == (0, MINUTES)
    assert at_once.p < 1e-6
    assert at_once.effect == pytest.approx(0.3, abs=0.05)
    # Of one that comes and goes each minute only the right minute agrees.
    quick = dice.integers(0, 2, MINUTES).astype(float)
    late = co_movement(np.concatenate(([0.0], 0.3 * quick[:-1])) + 0.1 * noise(dice), quick)
    assert late is not None
    assert late.lag == 1


def test_who_suffers_from_its_own_load_is_nobodys_victim() -> None:
    dice = np.random.default_rng(2)
    own = bursts(dice)
    other = own + 0.5 * noise(dice)
    suffering = 0.5 * own + 0.1 * noise(dice)
    assert follows(suffering, own)
    assert co_movement(suffering, other, chance=1e-4) is not None
    assert co_movement(suffering, other, [own], chance=1e-4) is None


def test_one_common_spike_proves_nothing() -> None:
    dice = np.random.default_rng(3)
    one, other = noise(dice), noise(dice)
    one[20], other[20] = 50.0, 80.0
    assert co_movement(one, other, chance=1e-3) is None


def test_too_few_minutes_and_what_does_not_move_say_nothing() -> None:
    dice = np.random.default_rng(4)
    taken = bursts(dice)
    short = np.full(MINUTES, np.nan)
    short[: LEAST_MINUTES - 1] = taken[: LEAST_MINUTES - 1]
    assert co_movement(short, taken) is None
    assert co_movement(np.zeros(MINUTES), taken) is None
    assert co_movement(taken, np.full(MINUTES, 3.0)) is None


def test_chance_is_as_rare_as_it_says() -> None:
    """Slow series, which plain correlation would take for related."""
    dice = np.random.default_rng(5)
    found = 0
    for _ in range(1_000):
        one, other = np.zeros(MINUTES), np.zeros(MINUTES)
        for minute in range(1, MINUTES):
            one[minute] = 0.8 * one[minute - 1] + dice.normal()
            other[minute] = 0.8 * other[minute - 1] + dice.normal()
        found += co_movement(one, other, chance=0.01) is not None
    assert found <= 30


def test_minutes_that_repeat_each_other_are_worth_less() -> None:
    dice = np.random.default_rng(6)
    fresh = dice.normal(size=MINUTES)
    slow = np.cumsum(dice.normal(size=MINUTES))
    assert effective(slow, slow) < 0.5 * effective(fresh, fresh)
    assert effective(fresh, fresh) <= MINUTES


series = st.lists(st.floats(0, 1e6) | st.just(float("nan")), min_size=MINUTES, max_size=MINUTES)


@given(series, series, series)
def test_any_numbers_give_a_finite_answer_or_none(
    one: list[float], other: list[float], own: list[float]
) -> None:
    suffering, taken, load = (np.array(each) for each in (one, other, own))
    found = co_movement(suffering, taken, [load])
    if found is not None:
        assert 0.0 <= found.p <= 1.0
        assert -1.001 <= found.correlation <= 1.001
        assert np.isfinite(found.effect)
    rough = correlations(suffering[None, :], taken[None, :])
    assert np.isfinite(rough).all()
    assert (np.abs(rough) <= 1.001).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=100))
def test_clipping_moves_the_extremes_alone(values: list[float]) -> None:
    given_values = np.array(values)
    found = clipped(given_values)
    assert found.min() >= given_values.min()
    assert found.max() <= given_values.max()
    assert (found != given_values).sum() <= 2 * (len(values) // 20)
