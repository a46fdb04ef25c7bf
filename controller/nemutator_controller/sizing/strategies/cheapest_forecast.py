"""Our own: follow whichever simple forecast has been cheapest of late, and change the request seldom.

Each forecast is tried with several margins. After each hour all of them pay for what they would have
reserved and not used, and `PRICE` times that for what would have been used above the reservation; older
hours count less. The cheapest one says what the coming hours need. What is requested moves only where the
coming day is cheaper with the change, the change itself being paid for.
"""

import numpy as np

from nemutator_controller.sizing.strategies.forecasts import forecasts
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

PRICE = 24.0
"""What a core that is missed costs, in cores that are reserved."""

MARGINS = np.array([0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0])

HALF_LIFE_HOURS = 96.0

CHANGE_HOURS = 4.0
"""A change costs as much as so many hours of average use."""

PLANNED_PRICE = 10.0
"""What is below the forecast costs so much in the plan: the forecast has its margin already."""

LEAST_CORES = 0.01


def cpu(use: RecordedUse, price: float = PRICE) -> Numbers:
    """Cores to request in each hour, from the hours before; NaN before there was any."""
    demand = use.busiest()
    ahead = forecasts(demand)
    reserved, missed = _paid(ahead[:, :, 0], demand)
    decay = 0.5 ** (1 / HALF_LIFE_HOURS)
    losses = np.zeros((len(ahead), len(MARGINS)))
    requested = np.full(use.hours, np.nan)
    total, seen = 0.0, 0
    now = np.nan
    for hour in range(use.hours):
        forecast, margin = np.unravel_index(np.argmin(losses), losses.shape)
        needs = ahead[forecast, hour] * MARGINS[margin]
        if not np.isnan(needs).any():
            cost = CHANGE_HOURS * total / seen if seen else 0.0
            now = float(needs[0]) if np.isnan(now) else next_request(needs, now, change_cost=cost)
        requested[hour] = max(now, LEAST_CORES)
        losses = losses * decay + reserved[:, :, hour] + price * missed[:, :, hour]
        if not np.isnan(demand[hour]).all():
            total, seen = total + float(np.nanmean(demand[hour])), seen + 1
    return requested


def next_request(needs: Numbers, now: float, *, change_cost: float) -> float:
    """The request for the coming hour: the first of the cheapest sequence for all that *needs* says."""
    levels = np.append(needs, now)
    above = levels[np.newaxis, :] - needs[:, np.newaxis]
    paid = np.where(above > 0, above, -PLANNED_PRICE * above)
    rest = paid[-1]
    for hour in paid[-2::-1]:
        rest = hour + np.minimum(rest, rest.min() + change_cost)
    best = int(rest.argmin())
    return float(levels[best]) if rest[best] + change_cost < rest[-1] else now


def _paid(wanted: Numbers, demand: Numbers) -> tuple[Numbers, Numbers]:
    """What each forecast with each margin would have reserved in vain in each hour, and missed."""
    reserved = np.zeros((len(wanted), len(MARGINS), len(demand)))
    missed = np.zeros_like(reserved)
    for number, margin in enumerate(MARGINS):
        above = wanted[:, :, np.newaxis] * margin - demand[np.newaxis]
        reserved[:, number] = np.nansum(np.maximum(above, 0.0), axis=2)
        missed[:, number] = np.nansum(np.maximum(-above, 0.0), axis=2)
    return reserved, missed
