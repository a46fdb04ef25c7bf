from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.history.saved_history import Restoring, slices
from nemutator_controller.history.slices import LEVELS, SavedRow, Slice
from nemutator_controller.history.usage_history import UsageHistory

from tests.controller.history.points import NOW, history, key, pod, points, quarters, settle

BEGIN = NOW - NOW % 3600


def used(minutes: int) -> UsageHistory:
    usage = history()
    for minute in range(minutes):
        moment = BEGIN + 60 * minute
        usage.learn("n", points([pod("a")], quarters(moment, 4, cpu=minute + 1)), now=moment + 60)
        settle(usage, moment + 60)
    return usage


def all_slices(usage: UsageHistory) -> list[Slice]:
    return sorted(
        slices(usage, [("heard", 0), *usage.take_changed()], saved=1),
        key=lambda one: LEVELS.index(one.name.level),
    )


def restored(found: list[Slice], *, now: float, since: int = 1) -> UsageHistory:
    usage = history()
    restoring = Restoring(usage, now=now)
    restoring.put_rows([SavedRow(0, key("a"), since)], now=now)
    for level in LEVELS:
        restoring.put_slices([one for one in found if one.name.level == level])
    return usage


def known(usage: UsageHistory) -> list[float]:
    cells = usage.cells(key("a"), begin=BEGIN, end=BEGIN + 86_400)
    if "cpu_cores" not in cells.figures:
        return []
    means = cells.figures["cpu_cores"]["mean"]
    return [float(one) for one in means[~np.isnan(means)]]


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 400))
def test_what_is_made_slices_of_comes_back(minutes: int) -> None:
    usage = history()
    found: dict[object, Slice] = {}
    for minute in range(minutes):
        moment = BEGIN + 60 * minute
        usage.learn("n", points([pod("a")], quarters(moment, 4, cpu=minute + 1)), now=moment + 60)
        settle(usage, moment + 60)
        found |= {one.name: one for one in all_slices(usage)}
    back = restored(list(found.values()), now=BEGIN + 60 * minutes)
    assert known(back) == known(usage)
    assert (back.newest, back.rows.heard_at[0]) == (usage.newest, usage.rows.heard_at[0])


def test_slices_of_an_earlier_save_than_a_row_s_first_are_another_s() -> None:
    found = all_slices(used(3))
    assert known(restored(found, now=BEGIN + 180)) == [1, 2, 3]
    assert known(restored(found, now=BEGIN + 180, since=2)) == []


def test_what_was_written_while_the_clock_was_ahead_is_left_out() -> None:
    found = all_slices(used(3))
    assert known(restored(found, now=BEGIN - 86_400)) == []


def test_figures_that_this_version_does_not_know_are_left_out() -> None:
    found = [
        replace(one, arrays={**one.arrays, "warp.total": np.ones(1), "warp": np.ones(1)})
        for one in all_slices(used(3))
    ]
    assert known(restored(found, now=BEGIN + 180)) == [1, 2, 3]


def test_figures_that_another_version_did_not_know_are_unknown() -> None:
    found = [
        replace(one, arrays={n: a for n, a in one.arrays.items() if not n.startswith("memory")})
        for one in all_slices(used(3))
    ]
    back = restored(found, now=BEGIN + 180)
    assert known(back) == [1, 2, 3]
    cells = back.cells(key("a"), begin=BEGIN, end=BEGIN + 180)
    assert "memory_bytes" not in cells.figures
