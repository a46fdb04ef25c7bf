"""What the next day may be like, as several simple experts say it: pure.

Days are lines of slots. Each expert is a way in which real days repeat: yesterday again, the middle of some
days, the same day of last week, the usual shape at yesterday's level, or nothing but a level. None of them is best
for all workloads; `backtests.py` follows those that were right so far.
"""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

WEEK = 7
EXPERTS = (
    *("last", "median2", "median3", "median7", "median14"),
    *("mean2", "mean3", "mean7", "mean14"),
    *("week", "weeks", "last_and_week", "last_and_median7", "last_and_median3"),
    *("smooth_last", "smoother_last", "smooth_median3", "smoother_median3"),
    *("smooth_median7", "smoother_median7"),
    *("shape_at_last", "shape_at_last3", "offset_at_last"),
    *("level_hour", "level_quarter", "level_day", "level_week"),
)

_WIDTHS = (60.0, 22.0)
"""A smoothed day is a mean over the so-manieth part of it: of 288 slots over 5 and 13."""


def expert_days(days: Numbers) -> Numbers:
    """A line for each of `EXPERTS` with what it says of the day after *days*, which have no gaps."""
    slots = days.shape[1]
    last, lately = days[-1], days[-WEEK:]
    medians = {count: np.median(days[-count:], axis=0) for count in (2, 3, WEEK, 2 * WEEK)}
    same = days[-WEEK::-WEEK] if len(days) >= WEEK else last[np.newaxis]
    narrow, wide = (max(1, int(slots / width) | 1) for width in _WIDTHS)
    levels = np.median(days, axis=1)
    shapes = _shape(lately, levels[-WEEK:])
    offsets = np.median(lately - levels[-WEEK:, np.newaxis], axis=0)
    said = [
        *(last, medians[2], medians[3], medians[WEEK], medians[2 * WEEK]),
        *(days[-count:].mean(axis=0) for count in (2, 3, WEEK, 2 * WEEK)),
        *(same[0], np.median(same, axis=0), (same[0] + last) / 2),
        *((last + medians[WEEK]) / 2, (last + medians[3]) / 2),
        *(_smooth(last, narrow), _smooth(last, wide)),
        *(_smooth(medians[3], narrow), _smooth(medians[3], wide)),
        *(_smooth(medians[WEEK], narrow), _smooth(medians[WEEK], wide)),
        *(shapes * levels[-1], shapes * np.median(levels[-3:])),
        np.maximum(offsets + levels[-1], 0.0),
        *(
            np.full(slots, level)
            for level in (
                np.median(last[-max(1, slots // 24) :]),
                np.median(last[-max(1, slots // 4) :]),
                levels[-1],
                np.median(lately),
            )
        ),
    ]
    return np.stack(said)


def _shape(days: Numbers, levels: Numbers) -> Numbers:
    """The usual day as a multiple of its level; of a workload that is at nothing for half the day, the days'
    middle divided by theirs."""
    some = levels > 0
    if not some.any():
        return np.zeros(days.shape[1])
    shape: Numbers = np.median(days[some] / levels[some, np.newaxis], axis=0)
    return shape


def _smooth(day: Numbers, width: int) -> Numbers:
    """Means over *width* slots, an odd number, around each; a day's end is followed by its beginning."""
    if width <= 1:
        return day
    half = width // 2
    around = np.concatenate([day[-half:], day, day[:half]])
    return np.convolve(around, np.full(width, 1.0 / width), mode="valid")
