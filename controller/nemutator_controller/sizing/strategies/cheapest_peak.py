"""Our own for memory, hour by hour: follow whichever simple expectation of the next day's peak was cheapest of late.

What is expected is the largest peak of some of the last days, or of the same hour of some days before. How far peaks went
above each expectation is counted by day, because a day with one kill is no better than one with two. A margin is as
dear as what it reserves and the days on which it would have been passed, at one price for all containers: so who is steady
gets a small margin, and who is not pays for it only as long as that is worth it. No request is far above the largest
peak of two weeks: more than that was never needed. In the first week too little is known to choose, and the margin
goes by age.
"""

import numpy as np

from nemutator_controller.sizing.strategies import peaks
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers, RecordedUse

TIMES = 1.25
"""What is expected is requested so many times."""

PRICE = 5.0
"""What a day costs on which the request is passed, in days of average use that are reserved."""

MARGINS = np.array([1.0, 1.05, 1.1, 1.2, 1.35, 1.6, 2.0])

WINDOW_DAYS = (1, 3, 7, 14)
SAME_HOUR_DAYS = (3, 7, 14)
"""Days whose peaks of the same hour, and of those beside it, are expected again."""
STILL_HOURS = 2
"""What was used in so many last hours will be used in the next one, whatever the hour."""

JUDGED_DAYS = 14
HALF_LIFE_DAYS = 14.0
_LIKELY = (*(1 / (1 + days) for days in WINDOW_DAYS), *(0.5 for _ in SAME_HOUR_DAYS))
"""The share of days on which an expectation is passed, before any was seen: a day that is like the others is the
largest of n + 1 in one of n + 1. It counts as much as one day."""

FIRST_HOURS = 168

CAP = 1.25
"""Times the largest peak of two weeks, nothing is requested."""
CAP_POWER = 0.25
"""A larger cap where much more is asked for."""

RAISED, LOWERED = 0.03, 0.1
"""A request stays where what is wanted is so little above it, or below."""


def memory(use: RecordedUse, times: float = TIMES) -> Numbers:
    """Bytes to request and to limit in each hour, from the hours before."""
    demand = use.busiest()
    largest = np.fmax.reduce(demand, axis=1)
    expected = _expected(largest)
    wanted = _cheapest(expected, _passed(expected, largest), _lately(demand)) * times
    cap = expected[WINDOW_DAYS.index(max(WINDOW_DAYS))] * max(CAP, times**CAP_POWER)
    wanted = np.maximum(np.minimum(wanted, cap), peaks.LEAST_BYTES)
    seen = np.flatnonzero(~np.isnan(largest))
    first = int(seen[0]) + FIRST_HOURS if len(seen) else use.hours
    wanted[:first] = peaks.memory(use)[:first]
    return _kept(wanted)


def _expected(largest: Numbers) -> Numbers:
    """By expectation and hour, from the hours before. Where one has nothing to say, the shortest window's is taken, and the
    longest one's while nothing was seen lately."""
    windows = [_most(largest, days * DAY_HOURS) for days in WINDOW_DAYS]
    still = _most(largest, STILL_HOURS)
    same = [np.fmax(_same_hour(largest, days), still) for days in SAME_HOUR_DAYS]
    otherwise = np.where(np.isnan(windows[0]), windows[-1], windows[0])
    return np.stack([np.where(np.isnan(one), otherwise, one) for one in (*windows, *same)])


def _most(rows: Numbers, hours: int) -> Numbers:
    """The largest of the *hours* before each."""
    missing = np.full((*rows.shape[:-1], hours), np.nan)
    views = np.lib.stride_tricks.sliding_window_view(
        np.concatenate((missing, rows), axis=-1), hours, axis=-1
    )
    found = np.fmax.reduce(views[..., : rows.shape[-1], :], axis=-1)
    return np.asarray(found, dtype=np.float64)


def _same_hour(largest: Numbers, days: int) -> Numbers:
    beside = [
        _hours_ago(largest, day * DAY_HOURS + shift)
        for day in range(1, days + 1)
        for shift in (-1, 0, 1)
    ]
    return np.asarray(np.fmax.reduce(beside), dtype=np.float64)


def _hours_ago(rows: Numbers, hours: int) -> Numbers:
    missing = np.full((*rows.shape[:-1], hours), np.nan)
    return np.concatenate((missing, rows), axis=-1)[..., : rows.shape[-1]]


def _passed(expected: Numbers, largest: Numbers) -> Numbers:
    """By expectation, hour and margin: the share of the days before on which a peak was above."""
    above = _most(_ratio(largest, expected), DAY_HOURS)
    days = np.ones(expected.shape)
    passed = np.repeat(np.array(_LIKELY)[:, np.newaxis], expected.shape[1], axis=1)
    passed = np.repeat(passed[:, :, np.newaxis], len(MARGINS), axis=2)
    for day in range(JUDGED_DAYS):
        weight = 0.5 ** (day / HALF_LIFE_DAYS)
        then = _hours_ago(above, day * DAY_HOURS)
        days += weight * ~np.isnan(then)
        passed += weight * (then[:, :, np.newaxis] > MARGINS)
    return np.asarray(passed / days[:, :, np.newaxis], dtype=np.float64)


def _cheapest(expected: Numbers, passed: Numbers, lately: Numbers) -> Numbers:
    """What is to be requested in each hour; *lately* is the average use of the week before it."""
    reserved = _average(expected, DAY_HOURS)
    cost = _ratio(reserved, lately)[:, :, np.newaxis] * MARGINS + PRICE * passed
    cost = np.where(np.isnan(cost), np.inf, cost)
    by_hour = cost.transpose(1, 0, 2).reshape(expected.shape[1], -1)
    which, margin = np.divmod(by_hour.argmin(axis=1), len(MARGINS))
    return np.asarray(expected[which, np.arange(len(which))] * MARGINS[margin], dtype=np.float64)


def _ratio(above: Numbers, below: Numbers) -> Numbers:
    """Where nothing was used it is infinite, or no number of nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return above / below


def _lately(demand: Numbers) -> Numbers:
    counts = np.count_nonzero(~np.isnan(demand), axis=1)
    means = np.where(counts > 0, np.nansum(demand, axis=1) / np.maximum(counts, 1), np.nan)
    return _hours_ago(_average(means, FIRST_HOURS), 1)


def _average(rows: Numbers, hours: int) -> Numbers:
    """Of each hour and the ones before it, *hours* in all, as far as they are known."""
    missing = np.full((*rows.shape[:-1], hours - 1), np.nan)
    views = np.lib.stride_tricks.sliding_window_view(
        np.concatenate((missing, rows), axis=-1), hours, axis=-1
    )
    counts = np.count_nonzero(~np.isnan(views), axis=-1)
    sums = np.nansum(views, axis=-1)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan), dtype=np.float64)


def _kept(wanted: Numbers) -> Numbers:
    kept = np.empty_like(wanted)
    now = np.nan
    for hour, one in enumerate(wanted.tolist()):
        if not np.isnan(one) and not now * (1 - LOWERED) <= one <= now * (1 + RAISED):
            now = one
        kept[hour] = now
    return kept
