"""Seasons of a day: found where they are, prepared for, surprised, and without flapping."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from nemutator_controller.seasons.backtests import NextDay
from nemutator_controller.seasons.experts import Numbers
from nemutator_controller.seasons.phases import (
    DayPlan,
    SeasonState,
    day_plan,
    levels_of,
    peaks_of,
    runs,
    stepped,
)

SLOTS = 288


def office(*, low: float = 1.0, high: float = 10.0) -> Numbers:
    day = np.full(SLOTS, low)
    day[9 * 12 : 17 * 12] = high
    return day


def plan(day: Numbers, *, lead: int = 6) -> DayPlan:
    return day_plan(NextDay(day, day * 0.8, day * 1.2), lead=lead)


def test_an_office_day_has_its_seasons() -> None:
    seasons = plan(office()).seasons

    assert seasons[3 * 12] == "off-peak"
    assert seasons[12 * 12] == "peak"
    begin, end = runs([one == "peak" for one in seasons])[0]
    assert abs(begin - 9 * 12) <= 6
    assert abs(end - 17 * 12) <= 6
    assert seasons[begin - 6 : begin] == ("pre-peak",) * 6
    assert seasons[begin - 7] == "off-peak"


def test_a_peak_over_midnight_is_one_peak() -> None:
    seasons = plan(np.roll(office(), 12 * 12)).seasons

    assert seasons[0] == seasons[-1] == "peak"
    assert len(runs([one == "peak" for one in seasons])) == 2


def test_a_flat_day_has_no_seasons() -> None:
    assert set(plan(office(low=8.0)).seasons) == {"flat"}
    assert set(plan(np.zeros(SLOTS)).seasons) == {"flat"}


@given(arrays(np.float64, SLOTS, elements=st.floats(0, 1e6, width=32)))
def test_no_season_of_any_day_is_shorter_than_an_hour(day: Numbers) -> None:
    peaks = peaks_of(day, levels_of(day)).tolist()

    if any(peaks) and not all(peaks):
        edge = next(n for n in range(SLOTS) if peaks[n] != peaks[n - 1])
        turned = peaks[edge:] + peaks[:edge]
        assert all(end - begin >= 12 for begin, end in runs(turned))


@given(st.lists(st.none() | st.floats(0, 100), min_size=60, max_size=400))
def test_whatever_is_used_no_surprise_flaps(used: list[float | None]) -> None:
    quiet, state, seen = plan(office()), SeasonState("off-peak"), []
    for number, one in enumerate(used):
        state = stepped(state, quiet, number % 60, one, at=float(number))
        seen.append(state.season)

    surprises = runs([one == "surprise" for one in seen])
    # It takes three slots to begin, and six calm ones to end.
    assert all(end - begin >= 6 or end == len(seen) for begin, end in surprises)


@given(st.lists(st.none() | st.floats(0, 100), min_size=40, max_size=90))
def test_whatever_is_used_in_a_peak_no_surprise_flaps(used: list[float | None]) -> None:
    day = plan(office())
    first, state, seen = day.seasons.index("peak"), SeasonState("peak"), []
    for slot, one in enumerate(used, first):
        state = stepped(state, day, slot, one, at=float(slot))
        seen.append(state.season)

    # It takes an hour to begin, and six calm slots to end.
    assert "surprise" not in seen[:11]
    surprises = runs([one == "surprise" for one in seen])
    assert all(end - begin >= 6 or end == len(seen) for begin, end in surprises)


def test_use_far_above_what_was_expected_is_a_surprise_and_then_over() -> None:
    quiet, state = plan(office()), SeasonState("off-peak", since=1.0)
    for number in range(2):
        state = stepped(state, quiet, number, 9.0, at=float(number))
    assert state.season == "off-peak"

    state = stepped(state, quiet, 2, 9.0, at=2.0)
    assert (state.season, state.since) == ("surprise", 2.0)

    for number in range(3, 9):
        assert state.season == "surprise"
        state = stepped(state, quiet, number, 1.0, at=float(number))
    assert (state.season, state.since) == ("off-peak", 8.0)


def test_a_peak_that_does_not_come_is_a_surprise_that_ends_with_it() -> None:
    holiday, state = plan(office()), SeasonState("off-peak")
    seen = []
    for slot in range(SLOTS):
        state = stepped(state, holiday, slot, 1.0, at=float(slot))
        seen.append(state.season)
        assert not state.is_excess
    peak = holiday.seasons.index("peak")
    end = max(slot for slot, one in enumerate(holiday.seasons) if one == "peak")

    assert seen[peak : peak + 11] == ["peak"] * 11
    [(begin, after)] = runs([one == "surprise" for one in seen])
    # What was seen of a slot is known in the next one.
    assert (begin, after) == (peak + 11, end)
    assert seen[end:] == ["off-peak"] * (SLOTS - end)


def test_a_peak_that_comes_late_is_one_after_half_an_hour() -> None:
    day, state = plan(office()), SeasonState("off-peak")
    for slot in range(11 * 12):
        state = stepped(state, day, slot, 1.0, at=float(slot))
    assert (state.season, state.misses_peak) == ("surprise", True)

    for slot in range(11 * 12, 11 * 12 + 6):
        assert state.season == "surprise"
        state = stepped(state, day, slot, 10.0, at=float(slot))
    assert (state.season, state.misses_peak) == ("peak", False)


def test_a_peak_that_is_lower_than_usual_or_unseen_is_one() -> None:
    for used in (4.5, None):
        day, state = plan(office()), SeasonState("off-peak")
        for slot in range(14 * 12):
            at_night = 1.0 if slot < 9 * 12 else used
            state = stepped(state, day, slot, at_night, at=float(slot))
        assert state.season == "peak"


def test_what_was_a_surprise_before_the_peak_is_the_peak_in_it() -> None:
    day, state = plan(office()), SeasonState("off-peak")
    first = day.seasons.index("peak")
    for slot in range(first - 8, first):
        state = stepped(state, day, slot, 10.0, at=float(slot))

    assert state.season == "peak"


def test_more_than_expected_at_night_is_no_surprise_while_it_is_little() -> None:
    quiet, state = plan(office()), SeasonState("off-peak")
    for number in range(10):
        state = stepped(state, quiet, number, 3.0, at=float(number))

    assert state.season == "off-peak"


def test_a_surprise_does_not_end_while_nothing_is_seen() -> None:
    quiet, state = plan(office()), SeasonState("surprise", since=5.0)
    for number in range(20):
        state = stepped(state, quiet, number, None, at=float(number))

    assert (state.season, state.since) == ("surprise", 5.0)
