"""One row of a saved history is the same by itself as among all others."""

from dataclasses import replace

import numpy as np
import pytest
from nemutator_controller.history.fleet.one_row import cut, put_back
from nemutator_controller.history.saved_history import slices
from nemutator_controller.history.slices import LEVELS, PART, SavedRow, Slice
from nemutator_controller.history.usage_history import UsageHistory

from tests.controller.history.points import NOW, history, key, pod, points, quarters, settle

BEGIN = NOW - NOW % 3600
OWNERS = ("a", "b", "c")
MINUTES = 200


def used() -> tuple[UsageHistory, list[Slice]]:
    """A history of three owners, and all that was saved of it minute by minute."""
    usage, found = history(), dict[object, Slice]()
    pods = [pod(owner) for owner in OWNERS]
    for minute in range(MINUTES):
        moment = BEGIN + 60 * minute
        told = [
            one
            for of in range(len(pods))
            for one in quarters(moment, 4, cpu=(of + 1) * (minute + 1), of=of)
        ]
        usage.learn("n", points(pods, told), now=moment + 60)
        settle(usage, moment + 60)
        found |= {
            one.name: one for one in slices(usage, [("heard", 0), *usage.take_changed()], saved=1)
        }
    return usage, sorted(found.values(), key=lambda one: LEVELS.index(one.name.level))


USAGE, SAVED = used()


@pytest.mark.parametrize("owner", OWNERS)
def test_a_row_comes_back_as_it_was_among_others(owner: str) -> None:
    row = SavedRow(USAGE.rows.numbers[key(owner)], key(owner), 1)
    cuts = [part for one in SAVED if (part := cut(one, row)) is not None]
    assert {len(array) for one in cuts for array in one.arrays.values()} == {1}
    alone = put_back(row, cuts, now=BEGIN + 60 * MINUTES)
    assert alone.known_keys() == [key(owner)]
    begin, end = BEGIN, BEGIN + 60 * MINUTES
    ours, whole = (each.cells(key(owner), begin=begin, end=end) for each in (alone, USAGE))
    np.testing.assert_array_equal(ours.at, whole.at)
    for measure, values in whole.figures["cpu_cores"].items():
        np.testing.assert_array_equal(ours.figures["cpu_cores"][measure], values)
    one_week, week = (each.usual_week(key(owner)) for each in (alone, USAGE))
    np.testing.assert_array_equal(one_week.minutes, week.minutes)
    np.testing.assert_array_equal(
        one_week.figures["cpu_cores"]["median"], week.figures["cpu_cores"]["median"]
    )


def test_what_was_saved_before_the_row_was_there_is_another_s() -> None:
    number = USAGE.rows.numbers[key("b")]
    assert all(cut(one, SavedRow(number, key("b"), 2)) is None for one in SAVED)


def test_a_row_that_came_after_a_slice_is_not_in_it() -> None:
    assert all(cut(one, SavedRow(len(OWNERS), key("d"), 1)) is None for one in SAVED)


def test_rows_of_a_later_part_are_found_at_their_place_in_it() -> None:
    row = SavedRow(PART + 1, key("b"), 1)
    moved = [replace(one, name=replace(one.name, part=1)) for one in SAVED]
    cuts = [part for one in moved if (part := cut(one, row)) is not None]
    assert {one.name.part for one in cuts} == {0}
    alone = put_back(row, cuts, now=BEGIN + 60 * MINUTES)
    shown = alone.cells(key("b"), begin=BEGIN + 60 * (MINUTES - 1), end=BEGIN + 60 * MINUTES)
    assert shown.figures["cpu_cores"]["mean"][0] == pytest.approx(2 * MINUTES, rel=1e-3)
