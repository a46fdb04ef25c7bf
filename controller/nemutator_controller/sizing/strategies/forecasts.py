"""Simple forecasts of the hours to come, each by a rule of its own: what was used lately, what was used at the
same hour of the days before, and both together."""

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers

AHEAD_HOURS = 22
"""The same hour of yesterday is known for each of them."""

LATELY_HOURS = (1, 3, 24, 168, 336)
_MIXED_WITH = 0
"""What was used in the last hour."""

STILL_HOURS = 4
"""What was used in the last hour says something about so many hours ahead."""

SAME_HOUR: tuple[tuple[int, float], ...] = (
    (1, 1.0),
    (3, 0.9),
    (3, 1.0),
    (7, 0.9),
    (7, 1.0),
    (14, 0.9),
)
"""Of so many days, such a share of the use at that hour was below."""


def forecasts(demand: Numbers) -> Numbers:
    """Forecasts by hours by hours ahead, for *demand* of hours by steps. The forecasts of an hour know only the
    hours before it; before there are any they are NaN."""
    hours = len(demand)
    lately = [_lately(demand, window) for window in LATELY_HOURS]
    flat = [np.repeat(one[:, np.newaxis], AHEAD_HOURS, axis=1) for one in lately]
    ahead = np.arange(hours)[:, np.newaxis] + np.arange(AHEAD_HOURS)
    newest = flat[_MIXED_WITH]
    seasonal = []
    for days, share in SAME_HOUR:
        found = _same_hour(demand, days, share)[ahead]
        seasonal.append(np.where(np.isnan(found), newest, found))
    still = np.arange(AHEAD_HOURS) < STILL_HOURS
    above = [np.where(still, np.fmax(newest, one), one) for one in seasonal]
    between = [np.where(still, (newest + one) / 2, one) for one in seasonal]
    return np.stack([*flat, *seasonal, *above, *between])


def _lately(demand: Numbers, window: int) -> Numbers:
    """For each hour, the most that was used in the *window* hours before."""
    peaks = np.fmax.reduce(demand, axis=1)
    padded = np.concatenate((np.full(window, np.nan), peaks))
    views = np.lib.stride_tricks.sliding_window_view(padded, window)[: len(peaks)]
    return np.asarray(np.fmax.reduce(views, axis=1), dtype=np.float64)


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


def _share(rows: Numbers, share: float) -> Numbers:
    """Of each row, the value below which *share* of it lies, without those that are NaN."""
    ordered = np.sort(rows, axis=1)
    # NaN is sorted to the end.
    counts = np.count_nonzero(~np.isnan(rows), axis=1)
    at: npt.NDArray[np.intp] = np.ceil(share * counts).astype(np.intp) - 1
    return np.asarray(ordered[np.arange(len(rows)), np.clip(at, 0, None)], dtype=np.float64)
