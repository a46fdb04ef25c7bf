"""Days and slots by the clocks of the zone: an hour comes twice, or is left out."""

import datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.seasons.calendars import DAY_S, SeasonCalendar, zone_offset

BERLIN = SeasonCalendar(zone_offset(ZoneInfo("Europe/Berlin")))
UTC = SeasonCalendar(lambda _: 0.0)
SET_BACK = datetime.datetime(2026, 10, 25, 1, 0, tzinfo=datetime.UTC).timestamp()
SET_FORWARD = datetime.datetime(2026, 3, 29, 1, 0, tzinfo=datetime.UTC).timestamp()


def test_when_clocks_are_set_back_an_hour_comes_twice() -> None:
    before, after = BERLIN.place(SET_BACK - 1_800), BERLIN.place(SET_BACK + 1_800)

    assert before == after
    assert BERLIN.clock(before.slot) == "02:30"


def test_when_clocks_are_set_forward_an_hour_is_left_out() -> None:
    seen = {BERLIN.place(SET_FORWARD + 300.0 * step).slot for step in range(-24, 24)}

    assert not seen & set(range(24, 36))


def test_at_nine_it_is_nine_in_summer_and_in_winter() -> None:
    zone = ZoneInfo("America/New_York")
    calendar = SeasonCalendar(zone_offset(zone))

    for month in (1, 7):
        nine = datetime.datetime(2026, month, 5, 9, 0, tzinfo=zone).timestamp()
        assert calendar.clock(calendar.place(nine).slot) == "09:00"


@given(st.floats(0, 4e9), st.sampled_from([120.0, 180.0, 600.0, 3_600.0, DAY_S]))
def test_every_moment_has_one_place(moment: float, day_s: float) -> None:
    calendar = SeasonCalendar(lambda _: 0.0, day_s)

    place = calendar.place(moment)

    assert 0 <= place.slot < calendar.slots
    begin = place.day * day_s + place.slot * calendar.slot_s
    assert begin - 1e-3 <= moment < begin + calendar.slot_s + 1e-3


def test_a_compressed_day_has_slots_as_long_as_reports() -> None:
    calendar = SeasonCalendar(lambda _: 3_600.0, 180.0)

    assert (calendar.slots, calendar.slot_s) == (12, 15.0)
    assert calendar.place(180.0 * 7 + 31).slot == 2
    assert calendar.clock(2) == "second 30 of 180"
    assert UTC.slots == 288
    assert UTC.slots_of(3_600) == 12
