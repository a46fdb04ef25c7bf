import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.daily_changes import MOST_CHANGES, MOST_WITH_RISES
from nemutator_controller.sizing.strategies.few_changes import (
    NONE_YET,
    in_millis,
    with_few_changes,
)


def test_cores_are_rounded_up_but_for_what_is_left_of_arithmetic() -> None:
    assert in_millis(np.array([0.0033, 0.1 + 0.2, np.nan])).tolist() == [4, 300, NONE_YET]


def test_after_four_changes_in_a_day_it_only_rises_and_after_six_it_stays() -> None:
    wanted = np.array([10, 20, 30, 40, 50, 5, 60, 5, 70, 80, *[5] * 16, 5])
    given_ = with_few_changes(wanted)
    assert given_[:12].tolist() == [10, 20, 30, 40, 50, 50, 60, 60, 70, 70, 70, 70]
    # It is lowered when fewer than four are not 24 hours ago.
    assert given_[24:].tolist() == [70, 70, 70]
    assert with_few_changes(np.append(wanted, 5)).tolist()[27] == 5


def test_what_is_not_said_yet_is_no_change() -> None:
    assert with_few_changes(np.array([NONE_YET, 5, 5])).tolist() == [NONE_YET, 5, 5]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=120))
@settings(max_examples=50)
def test_in_no_24_hours_there_are_more_changes_than_may_be(wanted: list[int]) -> None:
    given_ = with_few_changes(np.array(wanted))
    changed = np.diff(given_) != 0
    windows = [int(changed[at : at + 24].sum()) for at in range(max(1, len(changed)))]
    assert max(windows) <= MOST_WITH_RISES
    assert set(given_.tolist()) <= set(wanted)
    if max(int((np.diff(wanted)[at : at + 24] != 0).sum()) for at in range(len(wanted))) <= 4:
        assert given_.tolist() == wanted
    for hour in np.flatnonzero(np.diff(given_) < 0):
        assert changed[max(0, hour - 23) : hour].sum() < MOST_CHANGES
