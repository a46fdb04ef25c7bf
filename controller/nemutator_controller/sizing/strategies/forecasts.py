"""Simple forecasts of the hours to come, each by a rule of its own: what was used lately and how it grew, what was
used at the same hour of the days before, around it and a week ago, and both together."""

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers

AHEAD_HOURS = 8
"""The same hour of yesterday is known for each of them."""

LATELY_HOURS = (1, 3, 6, 24, 168, 336)
_MIXED_WITH = 0
"""What was used in the last hour."""

STILL_HOURS = 4
"""What was used in the last hour says something about so many hours ahead."""

SAME_HOUR: tuple[tuple[int, float], ...] = (
    (1, 1.0),
    (3, 0.9),
    (3, 1.0),
    (7, 0.5),
    (7, 0.9),
    (7, 1.0),
    (14, 0.9),
)
"""Of so many days, such a share of the use at that hour was below."""

AROUND: tuple[tuple[int, float], ...] = ((3, 0.7), (7, 0.8), (7, 0.9), (14, 0.9))
"""Of so many days, such a share of the peaks of that hour and of those beside it was below: what comes an hour early or late."""

_USUAL = 3
"""The median of a week."""

SCALED = (1, 4, 5)
"""Of those, the ones that are tried at today's level, too."""

LEVEL_HOURS = ((2, 0.85), (24, 1.0))
"""The level is what the last hours used, by what is usual at those hours; for each hour ahead so much of it is
left."""

GROWING = 5
"""Forecasts by how the last two hours went."""

_LEAST_TIMES, _MOST_TIMES = 0.3, 3.0


def forecasts(demand: Numbers) -> Numbers:
    """Forecasts by hours by hours ahead, for *demand* of hours by steps. The forecasts of an hour know only the
    hours before it; before there are any they are NaN."""
    hours = len(demand)
    flat = [_ahead(_lately(demand, window)) for window in LATELY_HOURS]
    ahead = np.arange(hours)[:, np.newaxis] + np.arange(AHEAD_HOURS)
    newest = flat[_MIXED_WITH]
    seasonal, usual = [], np.full(hours, np.nan)
    for number, (days, share) in enumerate(SAME_HOUR):
        found = _same_hour(demand, days, share)
        usual = found[:hours] if number == _USUAL else usual
        seasonal.append(np.where(np.isnan(found[ahead]), newest, found[ahead]))
    still = np.arange(AHEAD_HOURS) < STILL_HOURS
    above = [np.where(still, np.fmax(newest, one), one) for one in seasonal]
    between = [np.where(still, (newest + one) / 2, one) for one in seasonal]
    scaled = [
        seasonal[number] * (1 + _ahead(_level(demand, usual, window) - 1) * _left(left))
        for window, left in LEVEL_HOURS
        for number in SCALED
    ]
    peaks = np.fmax.reduce(demand, axis=1)
    by_peak = [*(_around(peaks, days, share) for days, share in AROUND), *_a_week_ago(peaks)]
    coarse = [np.where(np.isnan(one[ahead]), newest, one[ahead]) for one in by_peak]
    return np.stack([*flat, *seasonal, *above, *between, *coarse, *scaled, *_growing(demand)])


def _ahead(by_hour: Numbers) -> Numbers:
    return np.repeat(by_hour[:, np.newaxis], AHEAD_HOURS, axis=1)


def _left(share: float) -> Numbers:
    return np.asarray(share ** np.arange(AHEAD_HOURS), dtype=np.float64)


def _lately(demand: Numbers, window: int) -> Numbers:
    """For each hour, the most that was used in the *window* hours before."""
    peaks = np.fmax.reduce(demand, axis=1)
    padded = np.concatenate((np.full(window, np.nan), peaks))
    views = np.lib.stride_tricks.sliding_window_view(padded, window)[: len(peaks)]
    return np.asarray(np.fmax.reduce(views, axis=1), dtype=np.float64)


def _growing(demand: Numbers) -> list[Numbers]:
    """By the end of the last hour, and by how that hour compares with the one before it."""
    means, peaks = _means(demand), np.fmax.reduce(demand, axis=1)
    mean, peak = _hours_ago(means, 1), _hours_ago(peaks, 1)
    before = np.maximum(_hours_ago(means, 2), 1e-9)
    growth = np.nan_to_num(np.clip(mean / before, 0.5, _MOST_TIMES), nan=1.0)
    earlier = _hours_ago(peaks, 2)
    found = (
        _hours_ago(demand[:, -1], 1),
        _hours_ago(np.fmax.reduce(demand[:, -3:], axis=1), 1),
        peak * np.maximum(growth, 1.0),
        peak * growth,
        (peak + np.where(np.isnan(earlier), peak, earlier)) / 2,
    )
    return [_ahead(one) for one in found]


def _level(demand: Numbers, usual: Numbers, window: int) -> Numbers:
    """For each hour, what the *window* hours before it used on average, by what is usual at those hours."""
    means = _means(demand)
    known = ~np.isnan(means) & ~np.isnan(usual)
    used, expected = (
        np.concatenate(([0.0], np.cumsum(np.where(known, one, 0.0)))) for one in (means, usual)
    )
    ends = np.arange(len(demand))
    begins = np.maximum(ends - window, 0)
    sums = expected[ends] - expected[begins]
    # What sums of floating-point numbers leave of nothing is no level.
    told = sums > 1e-9 * expected[ends]
    level = np.ones(len(demand))
    level[told] = (used[ends] - used[begins])[told] / sums[told]
    return np.clip(level, _LEAST_TIMES, _MOST_TIMES)


def _means(demand: Numbers) -> Numbers:
    counts = np.count_nonzero(~np.isnan(demand), axis=1)
    return np.where(counts > 0, np.nansum(demand, axis=1) / np.maximum(counts, 1), np.nan)


def _hours_ago(by_hour: Numbers, hours: int) -> Numbers:
    return np.concatenate((np.full(hours, np.nan), by_hour))[: len(by_hour)]


def _same_hour(demand: Numbers, days: int, share: float) -> Numbers:
    """For each hour, and the hours ahead of the last one, by the same hour of the *days* before."""
    hours, steps = demand.shape
    missing = np.full((AHEAD_HOURS, steps), np.nan)
    padded = np.concatenate((np.full((days * DAY_HOURS, steps), np.nan), demand, missing))
    before = np.stack(
        [padded[(days - day) * DAY_HOURS :][: hours + AHEAD_HOURS] for day in range(1, days + 1)],
        axis=1,
    ).reshape(hours + AHEAD_HOURS, days * steps)
    return _share(before, share)


def _around(peaks: Numbers, days: int, share: float) -> Numbers:
    """For each hour, and the hours ahead of the last one, by the peaks of the same hour of the *days* before and of the
    hours beside it."""
    hours = len(peaks)
    padded = np.concatenate(
        (np.full(days * DAY_HOURS + 1, np.nan), peaks, np.full(AHEAD_HOURS + 1, np.nan))
    )
    before = np.stack(
        [
            padded[(days - day) * DAY_HOURS + 1 + beside :][: hours + AHEAD_HOURS]
            for day in range(1, days + 1)
            for beside in (-1, 0, 1)
        ],
        axis=1,
    )
    return _share(before, share)


def _a_week_ago(peaks: Numbers) -> tuple[Numbers, Numbers]:
    """For each hour, and the hours ahead of the last one: a week ago, and the larger of that and of yesterday's."""
    until = len(peaks) + AHEAD_HOURS
    missing = np.full(AHEAD_HOURS, np.nan)
    week, yesterday = (
        np.concatenate((np.full(days * DAY_HOURS, np.nan), peaks, missing))[:until]
        for days in (7, 1)
    )
    return week, np.fmax(week, yesterday)


def _share(rows: Numbers, share: float) -> Numbers:
    """Of each row, the value below which *share* of it lies, without those that are NaN."""
    ordered = np.sort(rows, axis=1)
    # NaN is sorted to the end.
    counts = np.count_nonzero(~np.isnan(rows), axis=1)
    at: npt.NDArray[np.intp] = np.ceil(share * counts).astype(np.intp) - 1
    return np.asarray(ordered[np.arange(len(rows)), np.clip(at, 0, None)], dtype=np.float64)
