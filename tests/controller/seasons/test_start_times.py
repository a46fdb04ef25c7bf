"""How long pods take to be ready, by what was seen of the newest of them."""

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.seasons.day_book import CLUSTER, Scope
from nemutator_controller.seasons.start_times import (
    KEPT,
    LEAST,
    LONGEST_S,
    SavedStarts,
    StartTimes,
)

WEB: Scope = ("shop", "Deployment", "web")
DB: Scope = ("shop", "StatefulSet", "db")


def seen(*seconds: float, scope: Scope = WEB, most: int = 10) -> StartTimes:
    times = StartTimes(most)
    for one in seconds:
        times.add(scope, one)
    return times


def test_before_some_were_seen_nobody_can_tell() -> None:
    assert seen(*[30.0] * (LEAST - 1)).ready_within_s(WEB) is None
    assert seen(*[30.0] * LEAST).ready_within_s(WEB) == 30.0


def test_nine_of_ten_are_ready_within_it_and_one_that_hung_counts_little() -> None:
    assert seen(*[30.0] * 9, 900.0).ready_within_s(WEB) == 30.0
    assert seen(*[30.0] * 8, 900.0, 900.0).ready_within_s(WEB) == 900.0


def test_the_newest_count() -> None:
    assert seen(*[900.0] * KEPT, *[20.0] * KEPT).ready_within_s(WEB) == 20.0


def test_what_cannot_be_a_start_is_none() -> None:
    times = seen(*[30.0] * 3)
    assert not times.add(WEB, -1.0)
    assert not times.add(WEB, LONGEST_S + 1)
    assert not times.add(WEB, float("nan"))
    assert times.count(WEB) == 3


def test_all_together_are_told_and_are_never_the_first_to_go() -> None:
    times = StartTimes(most=2)
    for number in range(5):
        times.add(("jobs", "Job", str(number)), 60.0 + number)
    assert times.count(("jobs", "Job", "0")) == 0
    assert times.count(("jobs", "Job", "4")) == 1
    assert (times.count(CLUSTER), times.ready_within_s(CLUSTER)) == (5, 64.0)


def test_what_is_saved_is_read_back_and_what_went_is_named() -> None:
    times = seen(10.0, 20.0, most=1)
    kept, gone = times.take_changed()
    assert {one.scope: tuple(one.seconds) for one in kept} == {
        WEB: (10.0, 20.0),
        CLUSTER: (10.0, 20.0),
    }
    assert gone == []
    assert times.take_changed() == ([], [])
    times.add(DB, 5.0)
    kept, gone = times.take_changed()
    assert gone == [WEB]
    times.give_back(kept, gone)
    assert times.take_changed() == (kept, gone)
    again = StartTimes(most=1)
    again.restore(kept)
    assert (again.count(DB), again.count(CLUSTER)) == (1, 3)
    assert again.take_changed() == ([], [])


def test_of_more_than_there_is_room_for_those_without_are_to_be_forgotten() -> None:
    times = StartTimes(most=1)
    times.restore([SavedStarts(WEB, [1.0]), SavedStarts(DB, [1.0]), SavedStarts(CLUSTER, [1.0])])
    assert times.take_changed() == ([], [WEB])


@given(st.lists(st.floats(0, LONGEST_S), min_size=LEAST, max_size=60))
def test_it_is_one_of_what_was_seen(seconds: list[float]) -> None:
    found = seen(*seconds).ready_within_s(WEB)
    assert found in seconds[-KEPT:]
