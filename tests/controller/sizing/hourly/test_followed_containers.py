from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from nemutator_controller.sizing.hourly.followed_containers import FollowedContainers
from nemutator_controller.sizing.hourly.points import (
    PER_HOUR,
    HourlyPoints,
    points_of,
)
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.strategies.few_changes import NONE_YET

from tests.fakes.hourly import replayed_alone

BEGIN = 472_000
KEYS = [ContainerKey("shop", "Deployment", name, "app") for name in "abcdef"]


def use(seed: int, hours: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """With gaps, of any size."""
    random = np.random.default_rng(seed)
    used = random.exponential(1.0, (hours, PER_HOUR)) * 10 ** random.uniform(-3, 2)
    used[random.random(hours) < 0.15] = np.nan
    used[random.random(used.shape) < 0.05] = np.nan
    return used


def go_through(turns: Iterator[None]) -> int:
    return sum(1 for _ in turns)


def at(
    followed: FollowedContainers, points: Mapping[ContainerKey, HourlyPoints], hour: int
) -> None:
    followed.keep(points, hour)
    go_through(followed.step(points, hour))
    if new := {key: points[key] for key in points.keys() - set(followed.known())}:
        go_through(followed.replay(new))
    assert set(followed.known()) == set(points)


@pytest.mark.parametrize("seed", range(3))
def test_each_container_is_asked_what_the_replay_of_it_alone_asks(seed: int) -> None:
    random = np.random.default_rng(seed)
    hours = 48
    begins = random.integers(0, 30, len(KEYS)).tolist()
    cores = {key: use(seed * 10 + number, hours) for number, key in enumerate(KEYS)}
    followed, hour = FollowedContainers(), 30
    while hour < hours:
        if random.random() < 0.1:
            followed = FollowedContainers()
        # They come and go, and those that come again know their hours.
        points = {
            key: points_of(BEGIN + begin, cores[key][begin:hour])
            for key, begin in zip(KEYS, begins, strict=True)
            if random.random() < 0.8
        }
        at(followed, points, BEGIN + hour)
        for key in points if hour > hours - 4 else ():
            wanted = followed.wanted(key)
            np.testing.assert_array_equal(wanted, replayed_alone(points[key]))
            assert len(wanted) == len(points[key].codes) + 1
        hour += int(random.integers(1, 4))


def test_who_was_never_seen_is_asked_nothing() -> None:
    followed = FollowedContainers()
    points = {
        KEYS[0]: points_of(BEGIN, use(1, 30)),
        KEYS[1]: points_of(BEGIN + 29, np.full((1, PER_HOUR), np.nan)),
    }
    at(followed, points, BEGIN + 30)
    assert followed.wanted(KEYS[1]).tolist() == [NONE_YET, NONE_YET]


def test_whose_oldest_hours_are_left_out_is_replayed_from_what_is_left() -> None:
    cores = use(5, 31)
    whole, other = points_of(BEGIN, cores[:30]), points_of(BEGIN + 25, use(2, 5))
    followed = FollowedContainers()
    at(followed, {KEYS[0]: whole, KEYS[1]: other}, whole.end)
    shorter = points_of(BEGIN + 10, cores[10:])
    longer = other.with_hours(other.end, cores[30:])
    at(followed, {KEYS[0]: shorter, KEYS[1]: longer}, shorter.end)
    for key, points in ((KEYS[0], shorter), (KEYS[1], longer)):
        np.testing.assert_array_equal(followed.wanted(key), replayed_alone(points))


def test_hours_that_are_still_to_come_are_not_known_after_a_clock_was_set_back() -> None:
    cores = use(3, 20)
    followed = FollowedContainers()
    for hours in (20, 15, 16):
        points = {KEYS[0]: points_of(BEGIN, cores[:hours])}
        at(followed, points, BEGIN + hours)
        np.testing.assert_array_equal(followed.wanted(KEYS[0]), replayed_alone(points[KEYS[0]]))


def test_a_new_one_is_replayed_apart_from_the_others() -> None:
    followed = FollowedContainers()
    points = {key: points_of(BEGIN, use(4, 20)) for key in KEYS}
    at(followed, {key: points[key] for key in KEYS[1:]}, BEGIN + 20)
    followed.keep(points, BEGIN + 20)
    assert go_through(followed.step(points, BEGIN + 20)) == 0
    assert go_through(followed.replay({KEYS[0]: points[KEYS[0]]})) == 20
    assert set(followed.known()) == set(KEYS)
