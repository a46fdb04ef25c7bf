"""Our own: follow whichever simple forecast has been cheapest of late, and change the request seldom.

How far use was from each forecast is kept as what the forecast would have cost with each of several margins: what
it would have reserved in vain, and the price of what it would have missed. Older hours count less. Per unit of
what was forecast this says what any request would cost, by how far it is from the forecast; so the
request for the coming hours is planned with the same price by which forecasts are judged. It moves
only where those hours are cheaper with the change, the change itself being paid for.
"""

import numpy as np

from nemutator_controller.sizing.strategies.forecasts import forecasts
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

PRICE = 33.0
"""What a core that is missed costs, in cores that are reserved."""

MARGINS = np.array(
    [
        0.3, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15,
        1.2, 1.275, 1.35, 1.5, 1.75, 2.0, 2.5, 3.5, 5.0,
    ]
)  # fmt: skip

HALF_LIFE_HOURS = 48.0

CHANGE_HOURS = 1.9
"""A change costs as much as so many hours of average use."""

LEAST_CORES = 0.002
"""The kernel knows no smaller share: `cpu.shares` is 2 of 1024 at least."""

_LEVELS = 40
"""Requests between which a plan chooses."""

_TINY_CORES = 1e-6


def cpu(use: RecordedUse, price: float = PRICE) -> Numbers:
    """Cores to request in each hour, from the hours before; NaN before there was any."""
    demand = use.busiest()
    ahead = forecasts(demand)
    reserved, missed, said = _paid(ahead[:, :, 0], demand)
    decay = 0.5 ** (1 / HALF_LIFE_HOURS)
    losses = np.zeros((len(ahead), len(MARGINS)))
    forecast_sums = np.zeros(len(ahead))
    requested = np.full(use.hours, np.nan)
    total, seen = 0.0, 0
    now = np.nan
    for hour in range(use.hours):
        best = int(losses.min(axis=1).argmin())
        needs = ahead[best, hour]
        if not np.isnan(needs).any():
            cost = CHANGE_HOURS * total / seen if seen else 0.0
            by_margin = _by_margin(losses[best], float(forecast_sums[best]), price)
            now = next_request(needs, by_margin, now, price=price, change_cost=cost)
        requested[hour] = now
        losses = losses * decay + reserved[:, :, hour] + price * missed[:, :, hour]
        forecast_sums = forecast_sums * decay + said[:, hour]
        if not np.isnan(demand[hour]).all():
            total, seen = total + float(np.nanmean(demand[hour])), seen + 1
    return requested


def next_request(
    needs: Numbers, by_margin: Numbers, now: float, *, price: float, change_cost: float
) -> float:
    """The request for the coming hour: the first of the cheapest sequence for the hours that *needs* forecasts,
    where a request of so many `MARGINS` times the forecast costs *by_margin* times it. *now* may be NaN."""
    needs = np.maximum(needs, _TINY_CORES)
    margin = MARGINS[by_margin.argmin()]
    lowest = max(0.8 * margin * float(needs.min()), LEAST_CORES)
    highest = max(1.1 * margin * float(needs.max()), 1.01 * LEAST_CORES)
    levels = np.geomspace(lowest, highest, _LEVELS)
    if not np.isnan(now):
        levels = np.append(levels, now)
    paid = needs[:, np.newaxis] * _cost(levels / needs[:, np.newaxis], by_margin, price)
    rest = paid[-1]
    for hour in paid[-2::-1]:
        rest = hour + np.minimum(rest, rest.min() + change_cost)
    best = int(rest.argmin())
    return float(levels[best]) if np.isnan(now) or rest[best] + change_cost < rest[-1] else now


def _by_margin(losses: Numbers, forecast_sum: float, price: float) -> Numbers:
    """What each margin cost, by what was forecast; before anything was, as if the forecast were right."""
    if forecast_sum > 0:
        return losses / forecast_sum
    off = np.maximum(MARGINS - 1, 0) + price * np.maximum(1 - MARGINS, 0)
    return np.asarray(off, dtype=np.float64)


def _cost(times: Numbers, by_margin: Numbers, price: float) -> Numbers:
    """*by_margin* between and beyond the margins: below them everything is missed, above them all is reserved."""
    between = np.interp(times, MARGINS, by_margin)
    below = price * np.maximum(MARGINS[0] - times, 0)
    return np.asarray(between + below + np.maximum(times - MARGINS[-1], 0), dtype=np.float64)


def _paid(wanted: Numbers, demand: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """What each forecast with each margin would have reserved in vain in each hour, and missed, and what it said;
    as averages of the hour. Who did not say anything has missed everything."""
    seen = np.count_nonzero(~np.isnan(demand), axis=1) / demand.shape[1]
    wanted = np.nan_to_num(wanted)
    reserved = np.zeros((len(wanted), len(MARGINS), len(demand)))
    missed = np.zeros_like(reserved)
    for number, margin in enumerate(MARGINS):
        above = wanted[:, :, np.newaxis] * margin - demand[np.newaxis]
        reserved[:, number] = np.nansum(np.maximum(above, 0.0), axis=2)
        missed[:, number] = np.nansum(np.maximum(-above, 0.0), axis=2)
    return reserved / demand.shape[1], missed / demand.shape[1], wanted * seen
