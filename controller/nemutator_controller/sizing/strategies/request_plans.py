"""Plans requests for the hours ahead, for many containers at once: the cheapest sequence of requests by what a forecast says
and by what each margin above that forecast has cost of late, a change itself being paid for."""

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.recorded_use import Numbers

MARGINS = np.array(
    [
        0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15,
        1.2, 1.275, 1.35, 1.5, 1.75, 2.0, 2.5, 3.5, 5.0,
    ]
)  # fmt: skip

LEAST_CORES = 0.002
"""The kernel knows no smaller share: `cpu.shares` is 2 of 1024 at least."""

_STEPS = np.linspace(0.0, 1.0, 24)
"""Requests between which a plan chooses, from the lowest to the highest that come into question."""

_WIDTHS = np.diff(MARGINS)
_STARTS: npt.NDArray[np.intp] = np.maximum(np.arange(len(MARGINS) + 1) - 1, 0)

_TINY_CORES = 1e-6


def next_requests(
    needs: Numbers, by_margin: Numbers, now: Numbers, *, price: float, change_cost: Numbers
) -> Numbers:
    """For each row, the request for the coming hour: the first of the cheapest sequence for the hours that *needs*
    forecasts, where a request of so many `MARGINS` times the forecast costs *by_margin* times it. *now* may be NaN."""
    needs = np.maximum(needs, _TINY_CORES)
    first = np.isnan(now)
    levels = _levels(needs, MARGINS[by_margin.argmin(axis=1)], now)
    rise, base = _lines(by_margin, price)
    segments = np.searchsorted(
        MARGINS, levels[:, np.newaxis] / needs[:, :, np.newaxis], side="right"
    )
    segments += (rise.shape[1] * np.arange(len(needs)))[:, np.newaxis, np.newaxis]
    paid = levels[:, np.newaxis] * rise.ravel()[segments]
    paid += needs[:, :, np.newaxis] * base.ravel()[segments]
    change = change_cost[:, np.newaxis]
    rest = paid[:, -1]
    for hour in range(needs.shape[1] - 2, -1, -1):
        rest = paid[:, hour] + np.minimum(rest, rest.min(axis=1, keepdims=True) + change)
    best = rest.argmin(axis=1)
    rows = np.arange(len(rest))
    moved = first | (rest[rows, best] + change_cost < rest[:, -1])
    return np.where(moved, levels[rows, best], now)


def exact(price: float) -> Numbers:
    """What each margin costs where a forecast is right."""
    off = np.maximum(MARGINS - 1, 0) + price * np.maximum(1 - MARGINS, 0)
    return np.asarray(off, dtype=np.float64)


def _levels(needs: Numbers, margin: Numbers, now: Numbers) -> Numbers:
    """Those that come into question, and at the end what is requested now."""
    lowest = np.maximum(0.8 * margin * needs.min(axis=1), LEAST_CORES)
    highest = np.maximum(1.1 * margin * needs.max(axis=1), 1.01 * LEAST_CORES)
    levels = lowest[:, np.newaxis] * (highest / lowest)[:, np.newaxis] ** _STEPS
    stays = np.where(np.isnan(now), levels[:, 0], now)
    return np.concatenate((levels, stays[:, np.newaxis]), axis=1)


def _lines(by_margin: Numbers, price: float) -> tuple[Numbers, Numbers]:
    """*by_margin* as lines between the margins and beyond them: below, everything is missed; above, all is reserved."""
    rise = np.empty((len(by_margin), len(MARGINS) + 1))
    rise[:, 0], rise[:, -1] = -price, 1.0
    rise[:, 1:-1] = (by_margin[:, 1:] - by_margin[:, :-1]) / _WIDTHS
    return rise, by_margin[:, _STARTS] - rise * MARGINS[_STARTS]
