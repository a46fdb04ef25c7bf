"""Use is kept by slot: sums over pods, no double count, and nothing of what was not reported."""

import datetime
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.seasons.calendars import DAY_S, SeasonCalendar, zone_offset
from nemutator_controller.seasons.day_book import CLUSTER, DAYS, DayBook, Scope

WEB: Scope = ("shop", "Deployment", "web")
DAY = 20_000
"""Since the epoch."""
LATE_S = 90.0


def book(*, most: int = 10, day_s: float = DAY_S, zone: str = "UTC") -> DayBook:
    return DayBook(SeasonCalendar(zone_offset(ZoneInfo(zone)), day_s), most)


def report(
    kept: DayBook, scope: Scope, begin: float, end: float, cores: float, *, total: bool = True
) -> int:
    """As reports say it: quarters of a minute, all at once."""
    line = kept.line_of(scope, now=end)
    assert line is not None
    starts = np.arange(begin, end, 15.0)
    size = len(starts)
    lines, use = np.full(size, line, dtype=np.intp), np.full(size, cores)
    return kept.add(lines, starts, starts + 15.0, use, np.full(size, total), now=end)


def run(kept: DayBook, scope: Scope, begin: float, end: float, cores: float) -> None:
    """Report it slot by slot, as time goes on."""
    at = begin
    while at < end:
        report(kept, scope, at, at + kept.calendar.slot_s, cores)
        at += kept.calendar.slot_s
        for _ in kept.close(now=at + LATE_S, late_s=LATE_S):
            pass


def test_pods_of_a_workload_are_added_up_and_so_are_workloads() -> None:
    kept, begin = book(), DAY * DAY_S
    report(kept, WEB, begin, begin + 300, 1.0)
    report(kept, WEB, begin, begin + 300, 2.0)
    report(kept, ("shop", "Deployment", "api"), begin, begin + 300, 4.0)
    *_, slot = kept.close(now=begin + 300 + LATE_S, late_s=LATE_S)

    assert slot.use[kept.numbers[WEB]] == 3.0
    assert slot.use[kept.numbers[CLUSTER]] == 7.0
    assert (slot.place.day, slot.place.slot, slot.at) == (DAY, 0, begin + 300)


def test_less_than_half_a_slot_is_not_known() -> None:
    kept, begin = book(), DAY * DAY_S
    report(kept, WEB, begin, begin + 120, 1.0)
    *_, slot = kept.close(now=begin + 300 + LATE_S, late_s=LATE_S)

    assert np.isnan(slot.use[kept.numbers[WEB]])


def test_what_is_kept_is_told_by_day_and_nothing_used_is_not_unknown() -> None:
    kept, begin = book(), DAY * DAY_S
    run(kept, WEB, begin, begin + DAY_S, 0.0)
    first, days = kept.days(kept.numbers[WEB], before=DAY + 1)

    assert first + len(days) == DAY + 1
    assert (days[-1] == 0.0).all()
    assert np.isnan(days[:-1]).all()
    whole = [known.tolist() for known in kept.whole_days(before=DAY + 1, share=0.75)]
    assert [sum(line) for line in zip(*whole, strict=True)] == [1, 1]


def test_an_hour_that_comes_twice_is_kept_as_its_mean() -> None:
    kept = book(zone="Europe/Berlin")
    back = datetime.datetime(2026, 10, 25, 1, 0, tzinfo=datetime.UTC).timestamp()
    run(kept, WEB, back - 3_600, back, 1.0)
    run(kept, WEB, back, back + 3_600, 3.0)
    place = kept.calendar.place(back)

    assert kept.today_of(kept.numbers[WEB])[place.slot] == 2.0


def test_late_points_and_points_of_tomorrow_are_not_added() -> None:
    kept, begin = book(), DAY * DAY_S
    run(kept, WEB, begin, begin + 900, 1.0)

    assert report(kept, WEB, begin, begin + 15, 9.0) == 1
    line = np.zeros(1, dtype=np.intp)
    ahead = np.array([begin + DAY_S])
    late = kept.add(line, ahead, ahead + 15, np.ones(1), np.ones(1, dtype=bool), now=begin + 900)
    assert late == 1


def test_a_clock_that_jumps_ahead_and_back_leaves_what_was_before() -> None:
    kept, begin = book(), DAY * DAY_S
    run(kept, WEB, begin, begin + 3_600, 1.0)
    for _ in kept.close(now=begin + 3 * DAY_S, late_s=LATE_S):
        pass
    assert kept.today == DAY + 2
    for _ in kept.close(now=begin + 7_200, late_s=LATE_S):
        pass

    assert kept.today == DAY
    assert np.nansum(kept.today_of(kept.numbers[WEB])) == 12.0


def test_the_silent_make_room_and_those_that_speak_do_not() -> None:
    kept, begin = book(most=2), DAY * DAY_S
    for number in range(2):
        report(kept, ("jobs", "Job", str(number)), begin, begin + 15, 1.0)

    assert kept.line_of(("jobs", "Job", "2"), now=begin + 60) is None
    line = kept.line_of(("jobs", "Job", "2"), now=begin + 2 * DAY_S)
    assert line in (1, 2)
    assert np.isnan(kept.today_of(line)).all()
    assert len(kept.numbers) == 3


def test_what_was_saved_comes_back_and_what_is_of_other_slots_does_not() -> None:
    kept, begin = book(), DAY * DAY_S
    run(kept, WEB, begin, begin + 3_600, 2.0)
    saved = kept.take_changed()
    assert kept.take_changed() == []

    other, compressed = book(), book(day_s=600.0)
    assert other.restore(saved, now=begin + 7_200) == 0
    assert compressed.restore(saved, now=begin + 7_200) == len(saved)
    line = other.numbers[WEB]
    assert np.array_equal(other.today_of(line), kept.today_of(kept.numbers[WEB]), equal_nan=True)
    # After three weeks it is of no use.
    assert book().restore(saved, now=begin + DAYS * DAY_S) == len(saved)


@given(
    st.lists(st.tuples(st.floats(-1e3, 2e3), st.floats(-10, 100), st.floats(0, 1e4)), max_size=50)
)
def test_whatever_is_reported_what_is_kept_is_sound(
    points: list[tuple[float, float, float]],
) -> None:
    kept, begin = book(), DAY * DAY_S
    line = kept.line_of(WEB, now=begin)
    assert line is not None
    if points:
        starts = begin + np.array([one[0] for one in points])
        ends = starts + np.array([one[1] for one in points])
        cores = np.array([one[2] for one in points])
        lines = np.full(len(points), line, dtype=np.intp)
        kept.add(lines, starts, ends, cores, np.ones(len(points), dtype=bool), now=begin + 600)
    for slot in kept.close(now=begin + 1_200 + LATE_S, late_s=LATE_S):
        assert not np.isinf(slot.use).any()
        assert (slot.use[~np.isnan(slot.use)] >= 0).all()


def test_what_another_brain_has_heard_fills_what_was_not_heard_here() -> None:
    other, late, begin = book(), book(), DAY * DAY_S
    run(other, WEB, begin, begin + 3_600, 1.0)
    run(late, WEB, begin + 1_800, begin + 5_400, 2.0)
    late.fill(other.take_changed(), now=begin + 5_400)
    use = late.today_of(late.numbers[WEB])
    hour = int(3_600 / late.calendar.slot_s)

    assert use[: hour // 2].tolist() == [1.0] * (hour // 2)
    # What was heard here stays.
    assert use[hour // 2 : hour + hour // 2].tolist() == [2.0] * hour
    assert np.isnan(use[hour + hour // 2 :]).all()
    # The next who saves has all of it.
    saved = {one.scope: one for one in late.take_changed()}[WEB]
    assert np.count_nonzero(saved.use) == hour + hour // 2


def test_where_another_brain_saves_older_days_do_not_wait_to_be_saved() -> None:
    kept, begin = book(), DAY * DAY_S
    for number in (0, 1, 2, 3):
        run(kept, WEB, begin + number * DAY_S, begin + number * DAY_S + 300, 1.0)
    kept.fill([], now=begin + 3 * DAY_S + 600)
    assert {one.day for one in kept.take_changed()} == {DAY + 2, DAY + 3}
