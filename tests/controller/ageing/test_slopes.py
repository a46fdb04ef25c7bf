import math
import random
from collections.abc import Callable

import pytest
from nemutator_controller.ageing.slopes import (
    LEAST_POINTS,
    WIDTH_S,
    SlopeMixture,
    slope_mixture,
    together,
)
from nemutator_controller.ageing.trends import DAY_S, SeriesPoint

WEEK_S = 7 * DAY_S


def mixture(level: Callable[[float], float], *, seed: int = 1, noise: float = 2.0) -> SlopeMixture:
    """Of a week of points of which *level* says what they are on each day, beside white noise."""
    dice = random.Random(seed)
    points = [
        SeriesPoint(place * WIDTH_S, level(place * WIDTH_S / DAY_S) + dice.gauss(0, noise))
        for place in range(int(WEEK_S / WIDTH_S))
    ]
    found = slope_mixture(points)
    assert found is not None
    return found


def jump(day: float) -> float:
    return 30.0 * (day >= 3.2)


def wave(day: float) -> float:
    return 20 * math.sin(2 * math.pi * day)


def test_a_leak_is_seen_beside_a_season_and_a_jump() -> None:
    found = mixture(lambda day: 100 + 100 * day / 7 + wave(day) + jump(day))
    assert found.mean * WEEK_S == pytest.approx(100, rel=0.1)
    assert found.at_most(20 / WEEK_S) < 1e-6
    assert found.jumps > 0.9


def test_a_jump_is_no_leak() -> None:
    found = mixture(lambda day: 100 + wave(day) + jump(day))
    assert found.at_most(20 / WEEK_S) > 0.99
    assert found.jumps > 0.9


@pytest.mark.parametrize("jumps", [(2.0, 5.0), (1.0, 3.0, -5.0), (-2.0, 4.0)])
def test_several_jumps_are_no_leak(jumps: tuple[float, ...]) -> None:
    """At the days of *jumps*; where one is negative, down."""

    def level(day: float) -> float:
        return 100 + sum(math.copysign(30, at) for at in jumps if day >= abs(at))

    assert mixture(level).at_most(20 / WEEK_S) > 0.01


def test_a_cache_that_fills_is_no_leak() -> None:
    found = mixture(lambda day: 100 + 200 * (1 - math.exp(-day / 1.5)))
    assert found.at_most(20 / WEEK_S) > 0.9
    assert found.fills > 0.9


def test_noise_that_wanders_leaves_the_slope_open() -> None:
    dice, value, points = random.Random(4), 0.0, []
    for place in range(42):
        value = 0.9 * value + dice.gauss(0, 5)
        points.append(SeriesPoint(place * WIDTH_S, 100 + value))
    found = slope_mixture(points)
    assert found is not None
    assert found.at_most(20 / WEEK_S) > 0.01


def test_a_line_without_noise_is_known_and_a_constant_is_none() -> None:
    line, level = mixture(lambda day: day, noise=0), mixture(lambda _: 0.0, noise=0)
    assert line.mean * DAY_S == pytest.approx(1, rel=1e-3)
    assert level.mean == pytest.approx(0, abs=1e-9)


def loaded(
    level: Callable[[float], float], load: Callable[[float], float], *, seed: int = 1
) -> SlopeMixture:
    """Of a week of which *load* is known but for a few parts in a thousand; *level* is of day and load."""
    dice = random.Random(seed)
    loads = [load(place * WIDTH_S / DAY_S) * (1 + dice.gauss(0, 0.1)) for place in range(42)]
    points = [
        SeriesPoint(place * WIDTH_S, level(place * WIDTH_S / DAY_S) + 50 * one + dice.gauss(0, 2))
        for place, one in enumerate(loads)
    ]
    found = slope_mixture(points, [one * (1 + dice.gauss(0, 0.005)) for one in loads])
    assert found is not None
    return found


def climbs(day: float) -> float:
    return 1 + day / 5


@pytest.mark.parametrize("seed", range(5))
def test_memory_that_follows_a_load_that_climbs_is_no_leak(seed: int) -> None:
    found = loaded(lambda _: 50, climbs, seed=seed)
    assert found.at_most(20 / WEEK_S) > 0.9
    assert found.follows > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_a_leak_is_seen_beside_a_load_that_it_does_not_follow(seed: int) -> None:
    found = loaded(lambda day: 50 + 100 * day / 7, climbs, seed=seed)
    assert found.at_most(20 / WEEK_S) < 1e-3
    assert found.mean * WEEK_S == pytest.approx(100, rel=0.3)


def test_a_load_that_hardly_moves_explains_nothing() -> None:
    dice = random.Random(3)
    points = [SeriesPoint(at * WIDTH_S, 100 + at + dice.gauss(0, 2)) for at in range(42)]
    load = [1 + 1e-9 * at for at in range(42)]
    found, without = slope_mixture(points, load), slope_mixture(points)
    assert found is not None
    assert without is not None
    assert found.mean == pytest.approx(without.mean, rel=1e-3)
    assert found.at_most(20 / WEEK_S) < 1e-3
    # A program that never does anything has no load that memory could follow.
    assert slope_mixture(points, [0.0] * 42) is not None


def test_few_points_say_nothing() -> None:
    assert slope_mixture([SeriesPoint(at, 1) for at in range(LEAST_POINTS - 1)]) is None


def test_processes_together_are_known_better_and_by_their_mean() -> None:
    of_each = [mixture(lambda day: 100 + 10 * day, seed=seed, noise=10) for seed in range(4)]
    found = together(of_each)
    assert found.mean * DAY_S == pytest.approx(10, rel=0.2)
    assert found.variance < min(one.variance for one in of_each) / 2
    assert together(of_each[:1]).mean == pytest.approx(of_each[0].mean)
    one_of_two = together([mixture(lambda day: 100 + 10 * day), mixture(lambda _: 100.0)])
    assert 3 < one_of_two.mean * DAY_S < 7
