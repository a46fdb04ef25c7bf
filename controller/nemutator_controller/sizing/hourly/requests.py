"""The request of CPU for the coming hour, by the strategy that is replayed, or why there is none: pure.

What the strategy asks for follows from the points that are kept alone: nothing else has to outlive a restart, and a replay
of the same points says the same.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.daily_changes import MOST_CHANGES
from nemutator_controller.sizing.hourly.points import PER_HOUR, HourlyPoints
from nemutator_controller.sizing.strategies.few_changes import Millis, with_few_changes
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, HOUR_S, Numbers

STRATEGY = "nemutator-hourly"

LEAST_HOURS = 7 * DAY_HOURS
"""With less it was not tried."""
LEAST_OF_DAY, LEAST_OF_WEEK = 22, 150
"""Hours of the last day, and of the last week, that have to be known."""
LEAST_OF_HOUR = PER_HOUR // 2

MOST_THROTTLED = 0.05
"""Who was stopped at a limit for more of the time has used what it could get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyRequest:
    hour: int
    """Counted from the epoch: the one that it is for."""
    millis: int | None
    """None: the reason says why there is none."""
    changes: int = 0
    """In the 24 hours before the end of that hour."""
    reason: str

    @property
    def begins_at(self) -> float:
        return float(self.hour * HOUR_S)


def hourly_request(
    points: HourlyPoints, wanted: Millis, *, throttled: float = 0.0
) -> HourlyRequest:
    """For the hour after the last one of *points*, of what is *wanted* in each of them and in that one; *throttled*: the
    share of the last hour in which it was stopped at its CPU limit."""
    cores = points.cores()
    if why := _untrusted(cores, throttled):
        return HourlyRequest(hour=points.end, millis=None, reason=why)
    given = with_few_changes(wanted)
    changed = np.flatnonzero(np.diff(given[-DAY_HOURS - 1 :]))
    held = ""
    if given[-1] != wanted[-1]:
        held = f", which are used up: {wanted[-1]}m would fit better"
    begins = points.end % DAY_HOURS
    yesterday = _peak(cores[-DAY_HOURS])
    beside = "" if yesterday is None else f", {yesterday:.0f}m at this hour of yesterday"
    return HourlyRequest(
        hour=points.end,
        millis=int(given[-1]),
        changes=len(changed),
        reason=f"from {begins:02d}:00 UTC on: {_peak(cores[-1]):.0f}m at most were used in the last hour{beside};"
        f" {len(changed)} of {MOST_CHANGES} changes in 24 hours{held}",
    )


def lacks_hours(points: HourlyPoints) -> bool:
    """Whether a request cannot be made, or not trusted, until more of the last week is known."""
    known = _known(points.cores()[-LEAST_HOURS:])
    return int(np.count_nonzero(known)) < LEAST_OF_WEEK


def _untrusted(cores: Numbers, throttled: float) -> str:
    """Why nothing is to be made of them; empty: something is."""
    known = _known(cores)
    seen = np.flatnonzero(known)
    hours = len(known) - int(seen[0]) if len(seen) else 0
    if hours < LEAST_HOURS:
        return f"it is known for {hours} of at least {LEAST_HOURS} hours"
    day, week = (int(np.count_nonzero(known[-hours:])) for hours in (DAY_HOURS, LEAST_HOURS))
    if not known[-1]:
        return "the last hour is not known"
    if day < LEAST_OF_DAY:
        return f"{DAY_HOURS - day} of the last {DAY_HOURS} hours are not known"
    if week < LEAST_OF_WEEK:
        return f"{LEAST_HOURS - week} of the last {LEAST_HOURS} hours are not known"
    if throttled > MOST_THROTTLED:
        return f"it was stopped at its CPU limit for {throttled:.0%} of the last hour: what it used is not what it needs"
    return ""


def _known(cores: Numbers) -> npt.NDArray[np.bool_]:
    """By the hour."""
    known: npt.NDArray[np.bool_] = np.count_nonzero(~np.isnan(cores), axis=1) >= LEAST_OF_HOUR
    return known


def _peak(hour: Numbers) -> float | None:
    """In thousandths of a core."""
    return None if np.isnan(hour).all() else float(np.nanmax(hour)) * 1_000
