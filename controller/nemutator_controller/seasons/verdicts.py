"""Whether a workload has a season, and if that cannot be told, why: pure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.seasons.backtests import Backtest
from nemutator_controller.seasons.experts import WEEK, Numbers
from nemutator_controller.seasons.phases import LARGEST_TROUGH, DayPlan, day_plan

LEAST_DAYS = 4
"""Three periods, and one that is held out."""
LEAST_SKILL = 0.3
WHOLE_SHARE = 0.75
"""Of a day must be known, or it is as if nothing were."""
MOST_MISSING = 3
"""Days of the last week of which nothing may be known."""
NOTHING = 1e-6
"""Cores; less is no use."""
STEP = 3.0
"""The last day's level lies so many usual deviations, and as many tenths, away from those before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonVerdict:
    seasonal: bool | None
    """None: it cannot be told."""
    reason: str
    skill: float | None = None
    coverage: float | None = None
    """The share of points of past days that lay within the forecast interval."""
    days: int = 0
    """Whole days that it rests on."""
    plan: DayPlan | None = None
    """Of the day to come; also without a season, where the days are enough for a forecast."""


def verdict_of(days: Numbers, *, lead: int) -> SeasonVerdict:
    """*days* are all that are over, the last one yesterday, NaN where use is not known."""
    known = np.isfinite(days)
    whole = known.mean(axis=1) >= WHOLE_SHARE
    count = int(whole.sum())
    if count == 0:
        return _cannot_tell("no whole day of use is known yet", 0)
    begun = int(np.argmax(whole))
    missing = int((~whole[max(begun, len(days) - WEEK) :]).sum())
    if missing > MOST_MISSING:
        what = f"nothing is known of {missing} of the last {WEEK} days"
        return _cannot_tell(what, count)
    if count < LEAST_DAYS:
        what = f"{count} whole days of use are known, and {LEAST_DAYS} are needed"
        return _cannot_tell(what, count)
    filled = filled_days(days[begun:], whole[begun:])
    if float(filled[-WEEK:].max()) <= NOTHING:
        return SeasonVerdict(seasonal=False, reason="it uses nothing", days=count)
    backtest = Backtest(filled)
    skill, coverage = backtest.skill(), backtest.coverage()
    plan = day_plan(backtest.next_day(), lead=lead)
    if skill is not None and skill >= LEAST_SKILL:
        if plan.seasons[0] != "flat":
            reason = f"held-out days were foretold {skill:.0%} better than by a median"
            seasonal = True
        else:
            trough = plan.levels.trough
            reason = f"its day is flat: the trough is {trough:.0%} of the peak, above {LARGEST_TROUGH:.0%}"
            seasonal = False
    else:
        told = 0.0 if skill is None else skill
        reason = f"held-out days were foretold {told:.0%} better than by a median, {LEAST_SKILL:.0%} are needed"
        seasonal = False
        if level := _step(filled):
            return SeasonVerdict(
                seasonal=None, reason=level, skill=skill, coverage=coverage, days=count, plan=plan
            )
    return SeasonVerdict(
        seasonal=seasonal, reason=reason, skill=skill, coverage=coverage, days=count, plan=plan
    )


def filled_days(days: Numbers, whole: npt.NDArray[np.bool_]) -> Numbers:
    """*days* without gaps: a slot is as in the week around it, and a day of which nothing is known as the same
    day of the week before, or else as the one before."""
    found = days.copy()
    for number in range(len(days)):
        if not whole[number]:
            before = number - WEEK if number >= WEEK else number - 1
            found[number] = found[before]
            continue
        holes = ~np.isfinite(found[number])
        if holes.any():
            sound = np.flatnonzero(~holes)
            found[number, holes] = np.interp(np.flatnonzero(holes), sound, found[number, sound])
    return found


def _step(days: Numbers) -> str:
    """What is said of a level that has changed lately; empty: it has not."""
    levels = np.median(days, axis=1)
    before = levels[-WEEK - 1 : -1]
    usual = float(np.median(before))
    spread = max(float(np.median(np.abs(before - usual))), 0.1 * usual)
    if usual > 0 and abs(levels[-1] - usual) > STEP * spread:
        return f"its level changed from {usual:.3g} to {levels[-1]:.3g} cores: older days say little of it"
    return ""


def _cannot_tell(reason: str, days: int) -> SeasonVerdict:
    return SeasonVerdict(seasonal=None, reason=reason, days=days)
