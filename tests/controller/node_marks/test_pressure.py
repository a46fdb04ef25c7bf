"""A node's grade is what five minutes say, and does not flap."""

import pytest
from nemutator_controller.node_marks.pressure import (
    KEPT_S,
    LEAST_SAMPLES,
    NodePressures,
    PressureSample,
)

EVERY_S = 15.0


class Watched:
    def __init__(self) -> None:
        self.pressures, self.now = NodePressures(), 1_000.0

    def goes_on(self, times: int, **shares: float) -> int | None:
        for _ in range(times):
            self.now += EVERY_S
            given = {"cpu": 0.0, "memory": 0.0, "disk": 0.0, **shares}
            self.pressures.see("n", PressureSample(self.now, **given))
            self.pressures.assess(now=self.now)
        return self.pressures.grade("n")


def test_before_a_minute_nobody_can_tell() -> None:
    given = Watched()
    assert given.goes_on(LEAST_SAMPLES - 1, cpu=0.9) is None
    assert given.pressures.grade("never seen") is None


@pytest.mark.parametrize(
    ("shares", "grade"),
    [
        ({"cpu": 0.1}, 0),
        ({"cpu": 0.3}, 1),
        ({"cpu": 0.95}, 4),
        ({"memory": 0.3}, 3),
        ({"disk": 0.5}, 2),
        ({"cpu": 0.3, "memory": 0.6}, 4),
    ],
)
def test_the_worst_of_what_is_waited_for_counts(shares: dict[str, float], grade: int) -> None:
    assert Watched().goes_on(30, **shares) == grade


def test_a_burst_of_a_minute_is_no_grade() -> None:
    given = Watched()
    assert given.goes_on(20, cpu=0.0) == 0
    assert given.goes_on(2, cpu=1.0) == 0
    assert given.goes_on(20, cpu=0.0) == 0


def test_it_goes_when_the_node_is_well_again() -> None:
    given = Watched()
    assert given.goes_on(30, cpu=0.9) == 4
    grades = [given.goes_on(1, cpu=0.0) for _ in range(60)]
    assert grades[0] == 4
    assert grades[-1] == 0
    assert grades == sorted((one for one in grades if one is not None), reverse=True)


def test_what_wavers_around_a_bound_changes_nothing() -> None:
    given = Watched()
    assert given.goes_on(30, cpu=0.62) == 3
    for share in (0.58, 0.62) * 20:
        assert given.goes_on(2, cpu=share) == 3


def test_the_same_report_again_says_nothing_new() -> None:
    given = Watched()
    given.goes_on(2, cpu=0.9)
    for _ in range(10):
        given.pressures.see("n", PressureSample(given.now, 0.9, None, None))
    assert given.pressures.grade("n") is None


def test_a_silent_node_keeps_its_grade_for_an_hour() -> None:
    given = Watched()
    given.goes_on(30, cpu=0.9)
    given.pressures.assess(now=given.now + KEPT_S - 1)
    assert given.pressures.grade("n") == 4
    given.pressures.assess(now=given.now + KEPT_S + 1)
    assert given.pressures.grade("n") is None


def test_after_a_clock_was_set_back_it_is_found_anew() -> None:
    given = Watched()
    given.goes_on(30, cpu=0.9)
    given.now -= 100_000
    assert given.goes_on(30, cpu=0.0) == 0


def test_what_is_not_measured_is_no_pressure() -> None:
    pressures = NodePressures()
    for number in range(30):
        pressures.see("n", PressureSample(float(number), None, None, None))
        pressures.assess(now=float(number))
    assert pressures.grade("n") == 0
