import numpy as np
import pytest
from nemutator_controller.daily_changes import MOST_CHANGES
from nemutator_controller.sizing.hourly.points import PER_HOUR, STEP_S, points_of
from nemutator_controller.sizing.hourly.requests import LEAST_HOURS, hourly_request, lacks_hours

from tests.fakes.hourly import hours_of_use, request_alone

BEGIN = 24 * 19_600
"""Midnight."""
DAYS_8 = hours_of_use(8 * 24)


def test_a_request_says_for_which_hour_it_is_and_why() -> None:
    made = request_alone(points_of(BEGIN, DAYS_8[: 7 * 24 + 14]))
    assert made.hour == BEGIN + 7 * 24 + 14
    assert made.millis is not None
    assert made.reason.startswith("from 14:00 UTC on: ")
    assert "were used in the last hour" in made.reason
    assert "at this hour of yesterday" in made.reason
    assert f"{made.changes} of {MOST_CHANGES} changes in 24 hours" in made.reason
    assert made.begins_at == made.hour * 3_600


def test_by_day_more_is_requested_than_by_night() -> None:
    day = request_alone(points_of(BEGIN, DAYS_8[: 7 * 24 + 13])).millis
    night = request_alone(points_of(BEGIN, DAYS_8[: 7 * 24 + 3])).millis
    assert day is not None
    assert night is not None
    assert day > 2 * night


def test_who_has_no_request_for_want_of_hours_lacks_them() -> None:
    assert not lacks_hours(points_of(BEGIN, DAYS_8))
    assert lacks_hours(points_of(BEGIN, DAYS_8[:149]))
    assert lacks_hours(points_of(BEGIN, without(*range(-19, 0))))
    assert not lacks_hours(points_of(BEGIN, without(*range(-18, 0))))


def without(*hours: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    cores = DAYS_8.copy()
    cores[list(hours)] = np.nan
    return cores


@pytest.mark.parametrize(
    ("cores", "throttled", "why"),
    [
        (DAYS_8[: LEAST_HOURS - 1], 0.0, "it is known for 167 of at least 168 hours"),
        (DAYS_8[:0], 0.0, "it is known for 0 of at least 168 hours"),
        (without(*range(100)), 0.0, "it is known for 92 of at least 168 hours"),
        (without(191), 0.0, "the last hour is not known"),
        (without(180, 182, 184), 0.0, "3 of the last 24 hours are not known"),
        (without(*range(60, 84)), 0.0, "24 of the last 168 hours are not known"),
        (DAYS_8, 0.06, "it was stopped at its CPU limit for 6% of the last hour"),
    ],
)
def test_from_little_or_bad_data_nothing_is_requested(
    cores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], throttled: float, why: str
) -> None:
    made = request_alone(points_of(BEGIN, cores), throttled=throttled)
    assert made.millis is None
    assert made.reason.startswith(why)


def test_what_lies_stays_out_and_leaves_a_gap() -> None:
    cores = DAYS_8.copy()
    cores[-1] = 1e9
    assert request_alone(points_of(BEGIN, cores)).reason == "the last hour is not known"


def test_a_change_that_has_to_wait_is_said() -> None:
    points = points_of(BEGIN, DAYS_8)
    wanted = np.full(len(points.codes) + 1, 100)
    wanted[-10:] = [200, 300, 400, 500, *[90] * 6]
    made = hourly_request(points, wanted)
    assert (made.millis, made.changes) == (500, MOST_CHANGES)
    assert made.reason.endswith(
        "; 4 of 4 changes in 24 hours, which are used up: 90m would fit better"
    )
    assert hourly_request(points, np.full(len(wanted), 100)).reason.endswith(
        "; 0 of 4 changes in 24 hours"
    )


def test_a_point_has_five_minutes() -> None:
    assert STEP_S * PER_HOUR == 3_600
