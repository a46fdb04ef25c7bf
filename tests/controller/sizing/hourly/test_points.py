import contextlib
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.hourly.points import (
    LEFT_OUT_HOURS,
    LONGEST_HOURS,
    PER_HOUR,
    UnreadableHoursError,
    points_of,
    unpacked_points,
)

from tests.fakes.hourly import hours_of_use

BEGIN = 470_000


def test_what_is_saved_is_what_is_computed_with() -> None:
    points = points_of(BEGIN, hours_of_use(30))
    again = unpacked_points(BEGIN, points.packed())
    np.testing.assert_array_equal(again.cores(), points.cores())
    np.testing.assert_allclose(points.cores(), hours_of_use(30), rtol=1e-3)


def test_hours_that_are_missing_stay_unknown() -> None:
    points = points_of(BEGIN, hours_of_use(2)).with_hours(BEGIN + 5, hours_of_use(1))
    assert points.end == BEGIN + 6
    known = ~np.isnan(points.cores()).any(axis=1)
    assert known.tolist() == [True, True, False, False, False, True]


def test_what_no_container_can_use_is_not_believed() -> None:
    cores = np.array([[1e9, -1.0, np.inf, np.nan] + [0.5] * (PER_HOUR - 4)])
    kept = points_of(BEGIN, cores).cores()
    assert np.isnan(kept[0, :4]).all()
    assert (kept[0, 4:] == 0.5).all()


def test_the_first_hour_is_another_once_a_week_only() -> None:
    points = points_of(BEGIN, hours_of_use(1))
    begins = []
    for _ in range(LONGEST_HOURS + 200):
        points = points.with_hours(points.end, hours_of_use(1))
        begins.append(points.begin)
        assert len(points.codes) <= LONGEST_HOURS
    assert sorted(set(begins)) == [BEGIN, BEGIN + LEFT_OUT_HOURS, BEGIN + 2 * LEFT_OUT_HOURS]


def test_after_a_gap_that_is_longer_than_all_that_is_kept_it_begins_anew() -> None:
    points = points_of(BEGIN, hours_of_use(3))
    later = points.with_hours(points.end + LONGEST_HOURS, hours_of_use(2))
    assert (later.begin, later.end) == (points.end + LONGEST_HOURS, points.end + LONGEST_HOURS + 2)


def test_known_hours_are_not_told_twice() -> None:
    points = points_of(BEGIN, hours_of_use(3))
    with pytest.raises(ValueError, match="is known"):
        points.with_hours(BEGIN + 2, hours_of_use(1))
    assert points.until(BEGIN + 1).end == BEGIN + 1


@given(st.binary(max_size=200))
def test_any_bytes_are_points_or_refused(packed: bytes) -> None:
    shape: tuple[int, ...] = (PER_HOUR,)
    with contextlib.suppress(UnreadableHoursError):
        shape = unpacked_points(BEGIN, packed).codes.shape[1:]
    assert shape == (PER_HOUR,)


def test_a_row_that_unpacks_to_more_than_is_kept_is_refused() -> None:
    with pytest.raises(UnreadableHoursError):
        unpacked_points(BEGIN, zlib.compress(bytes(2 * PER_HOUR * (LONGEST_HOURS + 1))))
    with pytest.raises(UnreadableHoursError):
        unpacked_points(BEGIN, zlib.compress(bytes(7)))


def test_hours_that_others_know_fill_what_is_not_known_and_change_nothing_else() -> None:
    ours, others = hours_of_use(30), hours_of_use(60, seed=2)
    points = points_of(BEGIN + 40, ours[:5]).with_hours(BEGIN + 47, ours[:3])
    others[:10] = np.nan
    filled = points.filled(BEGIN, others)
    assert (filled.begin, filled.end) == (BEGIN + 10, BEGIN + 50)
    np.testing.assert_array_equal(filled.cores()[30:35], points.cores()[:5])
    np.testing.assert_array_equal(filled.cores()[37:], points.cores()[7:])
    told = points_of(BEGIN, others).cores()
    np.testing.assert_array_equal(filled.cores()[:30], told[10:40])
    np.testing.assert_array_equal(filled.cores()[35:37], told[45:47])
    again = filled.filled(BEGIN, others)
    np.testing.assert_array_equal(again.codes, filled.codes)


def test_filling_goes_back_no_further_than_what_is_kept() -> None:
    points = points_of(BEGIN + LONGEST_HOURS, hours_of_use(2))
    filled = points.filled(BEGIN - 100, hours_of_use(LONGEST_HOURS + 200))
    assert (filled.begin, filled.end) == (BEGIN + 2, BEGIN + LONGEST_HOURS + 2)
    assert not np.isnan(filled.cores()).any()
    np.testing.assert_array_equal(
        points.filled(BEGIN - 9, hours_of_use(3)).codes[-2:], points.codes
    )
