import math

import numpy as np
import pytest
from nemutator_controller.sizing.outcomes import replay, replay_at
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse


def _use(pods: np.ndarray, step_s: int = 3600) -> RecordedUse:
    return RecordedUse("web", step_s, pods)


def test_steady_use_costs_what_is_added_to_it() -> None:
    found = replay("krr", "memory", [_use(np.full((2, 24 * 10), 1e9))])
    assert found.cost == pytest.approx(1.15)
    assert (found.missed, found.changes, found.silent) == (0.0, 0.0, 0.0)


def test_what_was_used_above_the_request_is_missed() -> None:
    hours = np.full((1, 24 * 14), 1.0)
    hours[0, -12:] = 2.0
    found = replay("krr", "cpu", [_use(hours)])
    # Twelve hours of the second week lie one core above, and are less than 5 % of all.
    assert found.missed == pytest.approx(12 / 180)


def test_of_memory_days_with_a_kill_are_counted() -> None:
    hours = np.full((1, 24 * 14), 1e9)
    hours[0, 24 * 9 + 3] = 3e9
    hours[0, 24 * 9 + 4] = 9e9
    assert replay("krr", "memory", [_use(hours)]).missed == pytest.approx(1 / 7)


def test_hours_without_an_answer_are_not_judged_and_are_told() -> None:
    found = replay("krr", "cpu", [_use(np.ones((1, 240), dtype=float), step_s=300)])
    assert found.silent == 0.0
    found = replay("krr", "cpu", [_use(np.ones((1, 60), dtype=float), step_s=600)])
    assert found.silent == 1.0
    assert math.isnan(found.cost)


def test_strategies_are_compared_where_they_miss_alike() -> None:
    random = np.random.default_rng(3)
    uses = [_use(random.gamma(2.0, 1.0, (1, 24 * 10 * 12)), step_s=300) for _ in range(3)]
    found = replay_at("krr", "cpu", uses, missed=0.01)
    assert found is not None
    assert found.missed == 0.01
    assert 95.0 < found.number <= 100.0
    assert found.cost > replay("krr", "cpu", uses).cost


def test_vpa_is_compared_for_memory_by_its_margin() -> None:
    random = np.random.default_rng(3)
    uses = [_use(random.normal(2e9, 3e8, (1, 24 * 21))) for _ in range(4)]
    found = replay_at("vpa", "memory", uses, missed=0.03)
    assert found is not None
    assert 1.0 < found.number < 2.0
    assert found.missed == 0.03


def test_who_always_misses_more_is_not_compared() -> None:
    rising = np.geomspace(1.0, 1e6, 24 * 10)[np.newaxis]
    assert replay_at("krr", "cpu", [_use(rising)], missed=0.0001) is None


def test_nothing_recorded_is_nothing_judged() -> None:
    found = replay("nemutator", "cpu", [_use(np.full((1, 48), np.nan))])
    assert math.isnan(found.cost)
