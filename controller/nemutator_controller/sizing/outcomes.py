"""What a strategy would have cost, and what would have gone wrong, had its requests been in force while the
recorded use happened.

A request that was in force does not change what was recorded: a pod that was held back then would have used
more later. So what is missed is a lower bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.known import STRATEGIES, Resource, SizingStrategy
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers, RecordedUse

WARM_HOURS = 168
"""Strategies are judged on what comes after a week, or after half of what was recorded."""

MISSED = 0.01
"""The share of the use above the request at which strategies are compared."""

OOM_DAYS = 0.03
"""The share of days with a kill at which strategies for memory are compared."""

A_CHANGE = 0.01
"""What moves less is not counted as one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    strategy: str
    number: float
    """The strategy's."""
    cost: float
    """Requested, by what was used: the mean of all that was recorded."""
    missed: float
    """The share of what was used that lies above the request; of memory, the share of days on which use passed
    it."""
    changes: float
    """Of the request, for each container and day."""
    most_changes: float
    """Of the container with the most."""
    silent: float
    """The share of hours for which the strategy did not say anything; they are not judged."""


def replay(name: str, resource: Resource, uses: Sequence[RecordedUse]) -> Outcome:
    """What *name* would have done with its own number."""
    strategy = STRATEGIES[name][resource]
    return _outcome(name, strategy, strategy.number, resource, uses)


def replay_at(
    name: str, resource: Resource, uses: Sequence[RecordedUse], *, missed: float
) -> Outcome | None:
    """The same, with the number at which as much as *missed* goes wrong, so that costs can be compared; None:
    it goes wrong more often with any of its numbers."""
    return outcome_at(name, STRATEGIES[name][resource], resource, uses, missed=missed)


def outcome_at(
    name: str,
    strategy: SizingStrategy,
    resource: Resource,
    uses: Sequence[RecordedUse],
    *,
    missed: float,
) -> Outcome | None:
    """The same of a strategy that need not be one of `STRATEGIES`."""
    tried: dict[int, Outcome] = {}

    def outcome(at: int) -> Outcome:
        if at not in tried:
            tried[at] = _outcome(name, strategy, strategy.numbers[at], resource, uses)
        return tried[at]

    low, high = 0, len(strategy.numbers) - 1
    if outcome(high).missed > missed:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if outcome(middle).missed <= missed else (middle + 1, high)
    enough = outcome(high)
    return enough if high == 0 else _between(outcome(high - 1), enough, missed)


def _between(less: Outcome, enough: Outcome, missed: float) -> Outcome:
    """What lies between two numbers where the share of *missed* does, by straight lines."""
    width = less.missed - enough.missed
    part = (less.missed - missed) / width if width > 0 else 1.0

    def at(first: float, second: float) -> float:
        return first + (second - first) * part

    return Outcome(
        strategy=enough.strategy,
        number=at(less.number, enough.number),
        cost=at(less.cost, enough.cost),
        missed=missed,
        changes=at(less.changes, enough.changes),
        most_changes=max(less.most_changes, enough.most_changes),
        silent=enough.silent,
    )


def _outcome(
    name: str,
    strategy: SizingStrategy,
    number: float,
    resource: Resource,
    uses: Sequence[RecordedUse],
) -> Outcome:
    long = [use for use in uses if use.hours > 1]
    judged = [
        _judged(requested, use.busiest(), resource)
        for use, requested in zip(long, strategy.request_all(long, number), strict=True)
    ]
    sounding = [one for one in judged if not math.isnan(one[0])]
    means = np.mean(sounding, axis=0) if sounding else np.full(4, np.nan)
    return Outcome(
        strategy=name,
        number=number,
        cost=float(means[0]),
        missed=float(means[1]),
        changes=float(means[2]),
        most_changes=max((one[2] for one in sounding), default=math.nan),
        silent=float(np.mean([one[3] for one in judged])) if judged else math.nan,
    )


def _judged(
    requested: Numbers, demand: Numbers, resource: Resource
) -> tuple[float, float, float, float]:
    """Cost, share missed, changes a day, share of silent hours; the first is NaN where nothing can be
    judged."""
    warm = min(WARM_HOURS, len(requested) // 2)
    requested, demand = requested[warm:], demand[warm:]
    used = ~np.isnan(demand).all(axis=1)
    silent = float(np.mean(np.isnan(requested[used]))) if used.any() else 1.0
    told = used & ~np.isnan(requested)
    requested, demand = requested[told], demand[told]
    total = float(np.nansum(demand))
    if not total > 0:
        return math.nan, 0.0, 0.0, silent
    wanted = float((requested * np.count_nonzero(~np.isnan(demand), axis=1)).sum())
    above = demand - requested[:, np.newaxis]
    if resource == "cpu":
        missed = float(np.nansum(np.maximum(above, 0.0))) / total
    else:
        missed = _days_with(np.nan_to_num(above, nan=-1.0).max(axis=1) > 0)
    moved = np.abs(np.diff(requested)) > A_CHANGE * requested[:-1]
    return wanted / total, missed, float(moved.sum()) / len(requested) * DAY_HOURS, silent


def _days_with(hours: npt.NDArray[np.bool_]) -> float:
    days = [hours[first : first + DAY_HOURS].any() for first in range(0, len(hours), DAY_HOURS)]
    return float(np.mean(days))
