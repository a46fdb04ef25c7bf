import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.daily_peaks import DAY_S, PEAK_DAYS
from nemutator_controller.sizing.learned_margins import (
    FEWEST_CONTAINERS,
    FEWEST_DAYS,
    LEAST,
    LEAST_SPAN_S,
    MOST,
    evidence,
    learned_margins,
    whole_days,
)
from nemutator_controller.sizing.margins import MARGINS

DAYS = PEAK_DAYS - 1
TODAY = 20_000
NOW = TODAY * DAY_S + 3_600.0


def steady(containers: int, spread: float, *, seed: int = 1) -> np.ndarray:
    made = np.random.default_rng(seed)
    return 300e6 * made.lognormal(0.0, spread, (containers, DAYS))


def in_slots(peaks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As the rows of daily peaks keep them, with today's beside."""
    largest = np.zeros((len(peaks), PEAK_DAYS))
    days = np.zeros((len(peaks), PEAK_DAYS), dtype=np.int32)
    for age in range(1, DAYS + 1):
        day = TODAY - age
        largest[:, day % PEAK_DAYS], days[:, day % PEAK_DAYS] = peaks[:, DAYS - age], day
    largest[:, TODAY % PEAK_DAYS], days[:, TODAY % PEAK_DAYS] = 9e12, TODAY
    return largest, days


def whole(peaks: np.ndarray, *, first_at: float = 0.0, last_at: float = NOW) -> np.ndarray:
    largest, days = in_slots(peaks)
    return whole_days(
        largest,
        np.zeros_like(largest),
        days,
        first_at=np.full(len(peaks), first_at),
        last_at=np.full(len(peaks), last_at),
        now=NOW,
    )


def test_days_come_in_their_order_and_today_is_not_over() -> None:
    peaks = steady(3, 0.1)
    assert whole(peaks).tolist() == peaks.tolist()


def test_a_day_that_was_not_seen_to_its_end_is_not_whole() -> None:
    found = whole(
        steady(2, 0.1), first_at=(TODAY - 5) * DAY_S + 60, last_at=(TODAY - 1) * DAY_S + 60
    )
    # The day in which it was seen first, and that in which it was seen last.
    assert np.isnan(found).tolist() == [[*[True] * 9, *[False] * 3, True]] * 2


def test_a_kill_says_what_a_day_needed() -> None:
    largest, days = in_slots(steady(1, 0.1))
    needed = np.zeros_like(largest)
    needed[0, (TODAY - 1) % PEAK_DAYS] = 4e9
    moments = np.zeros(1), np.full(1, NOW)
    found = whole_days(largest, needed, days, first_at=moments[0], last_at=moments[1], now=NOW)
    assert found[0, -1] == 4e9


def test_evidence_is_what_the_day_after_was_of_the_days_before() -> None:
    peaks = np.full((4, DAYS), 100e6)
    peaks[0, 5] = 154e6
    said = evidence(peaks, 2)
    assert (said.days, said.containers) == (4 * 11, 4)
    assert said.times == pytest.approx(0.54 / 0.18)
    # What a week knows of it is no surprise any more.
    assert evidence(peaks[:1], 12).times == 0.0


def test_days_that_were_not_seen_say_nothing() -> None:
    peaks = np.full((2, DAYS), 100e6)
    peaks[1, 6] = np.nan
    assert evidence(peaks, 1).days == 12 + 10
    assert evidence(np.full((2, DAYS), np.nan), 1).days == 0
    assert evidence(np.full((0, DAYS), 1.0), 1).days == 0
    assert evidence(np.full((2, DAYS), 1e6), 1).days == 0


def test_the_table_stays_until_there_is_enough() -> None:
    for few in (steady(FEWEST_CONTAINERS - 1, 0.01), steady(0, 0.01)):
        assert learned_margins(few) == MARGINS
    assert steady(FEWEST_CONTAINERS, 0.01).size > FEWEST_DAYS
    assert learned_margins(steady(FEWEST_CONTAINERS, 0.01)) != MARGINS


def test_a_steady_fleet_needs_less_and_a_wild_one_more() -> None:
    calm, wild = (dict(learned_margins(steady(500, spread))) for spread in (0.02, 0.6))
    table = dict(MARGINS)
    assert calm[86_400] < table[86_400] < wild[86_400]
    assert calm[14 * 86_400] < table[14 * 86_400]


def test_two_of_a_hundred_days_lie_above_what_was_learned() -> None:
    """Of days and containers that it was not learned from."""
    margins = dict(learned_margins(steady(20_000, 0.25)))
    others = steady(5_000, 0.25, seed=2)
    limit = others[:, :1] * (1 + margins[86_400] * 0.18)
    assert 0.01 < float((others[:, 1:2] > limit).mean()) < 0.03


@settings(max_examples=30)
@given(
    st.integers(FEWEST_CONTAINERS, 200),
    st.floats(0.0, 30.0),
    st.floats(0.0, 1.0),
    st.integers(0, 100),
)
def test_whatever_was_seen_margins_stay_in_bounds_and_fall_with_age(
    containers: int, spread: float, missing: float, seed: int
) -> None:
    made = np.random.default_rng(seed)
    peaks = np.minimum(steady(containers, spread, seed=seed), 1e12)
    peaks[made.random(peaks.shape) < missing] = np.nan
    margins = learned_margins(peaks)
    assert [least for least, _ in margins] == [least for least, _ in MARGINS]
    times = [one for _, one in margins]
    assert times == sorted(times)
    younger = dict(MARGINS)
    for least_s, one in margins:
        assert one >= LEAST * younger[least_s] - 0.03
        assert one <= MOST * max(younger[least_s], younger[86_400]) + 0.03


@given(st.floats(0, 14 * DAY_S), st.floats(0, 3 * DAY_S))
def test_a_container_with_two_whole_days_has_spanned_so_long_as_is_looked_for(
    before: float, span: float
) -> None:
    first_at = NOW - before
    found = whole(steady(1, 0.1), first_at=first_at, last_at=first_at + span)
    if np.count_nonzero(~np.isnan(found)) > 1:
        assert span >= LEAST_SPAN_S


@given(st.integers(1, DAYS), st.integers(0, 9))
def test_the_largest_of_so_many_days_is_what_the_next_is_compared_with(
    observed: int, seed: int
) -> None:
    peaks = steady(5, 0.3, seed=seed)
    peaks[np.random.default_rng(seed).random(peaks.shape) < 0.2] = np.nan
    windows = [
        (peaks[row, begin : begin + observed], peaks[row, begin + observed])
        for row in range(len(peaks))
        for begin in range(DAYS - observed)
    ]
    told = [(days, after) for days, after in windows if not np.isnan([*days, after]).any()]
    assert evidence(peaks, observed).days == len(told)
    if told:
        worst = np.quantile([after / days.max() for days, after in told], 0.98, method="higher")
        assert evidence(peaks, observed).times == pytest.approx(max(0.0, worst - 1) / 0.18)
