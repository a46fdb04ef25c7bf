"""Whether replicas are there when load comes, and what that costs: an autoscaler alone, and with a ForecastScaler.

`make bench NAME=scaling`. The sixteen production series of `tests/bench/crane`, at five minutes, their last five days
as in `seasons`, with straight lines between the means. Each is the CPU of a workload whose highest use of the days before
is twenty replicas' at the goal. The autoscaler looks every 15 s at use that is 30 s old, does nothing within a tenth of its
goal, takes away what was not wanted for five minutes, and a new replica carries load two minutes later. The ForecastScaler is
the code that runs: verdicts of seasons, each day from those before it, decisions, and its window of ten minutes.

Time is below demand while the replicas that are ready request less than is used; and above the goal while each uses more
than a tenth above its goal. A minimum that only rises can end both earlier, and costs the replicas that it adds.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from nemutator_controller.scaling.decisions import wanted_minimum
from nemutator_controller.scaling.forecast_lines import highest_ahead, highest_upper
from nemutator_controller.scaling.model import ScalerSpec
from nemutator_controller.scaling.raising import LOWERED_AFTER_S
from nemutator_controller.scaling.records import (
    CpuGoal,
    FoundAutoscaler,
    Workload,
    WorkloadForecast,
)
from nemutator_controller.scaling.stabilising_window import StabilisingWindow
from nemutator_controller.seasons.verdicts import verdict_of

from tests.bench.frame import Result, aim

Numbers = npt.NDArray[np.float64]

SERIES = Path(__file__).parent / "crane" / "crane_5min.npz"
SLOTS, SLOT_S = 288, 300
STEP_S = 15
JUDGED = 5
LEAD_SLOTS = 3
"""A quarter of an hour, as `brain.season_lead_s` has it."""
HIGHEST = 20
"""Replicas at the goal, for what was used most on the days before."""
READY_S, OLD_S, STABLE_S = 120, 30, 300
TOLERANCE = 0.1
GOALS = (50, 70, 90)
MOST = 1_000

MinimumAt = Callable[[int, int], int]
"""By day and step of the series."""


@dataclass(frozen=True)
class Outcome:
    below: float
    """Share of time."""
    hot: float
    hours: float


def bench() -> Result:
    series = {
        name.removeprefix("crane__"): days_of(values)
        for name, values in np.load(SERIES).items()
        if not name.endswith("__t0")
    }
    ways = {
        "alone": lambda days, goal: _base,
        "upper": lambda days, goal: foreseen(days, goal, ScalerSpec(target="w")),
        "expected": lambda days, goal: foreseen(
            days, goal, ScalerSpec(target="w", follow="Expected")
        ),
        "yesterday": yesterday,
    }
    found = {
        goal: {
            way: {name: run(days, goal, made(days, goal)) for name, days in series.items()}
            for way, made in ways.items()
        }
        for goal in GOALS
    }
    at_70 = found[70]
    alone, upper = at_70["alone"], at_70["upper"]
    hot = ratio(upper, alone, "hot")
    dear = float(np.median([upper[name].hours / alone[name].hours for name in alone]))
    worse = sum(upper[name].hot > alone[name].hot + 1e-9 for name in alone)
    return Result(
        measured={
            "judged_days": JUDGED,
            "by_goal": {
                str(goal): {way: summary(each) for way, each in by_way.items()}
                for goal, by_way in found.items()
            },
            "replica_hours_by_series_at_70": {
                name: round(upper[name].hours / alone[name].hours, 3) for name in alone
            },
            "above_goal_by_series_at_70": {
                name: [round(alone[name].hot, 4), round(upper[name].hot, 4)] for name in alone
            },
        },
        peers={"the same without ForecastScaler": summary(alone)},
        aims=(
            aim("time above the goal, of what it is alone", hot, "<=", 0.5),
            aim(
                "time below demand at a goal of 90, of what it is alone",
                ratio(found[90]["upper"], found[90]["alone"], "below"),
                "<=",
                0.5,
            ),
            aim("replica hours, median of what they are alone", dear, "<=", 1.25),
            aim("series that are above the goal for longer than alone", worse, "<=", 0),
        ),
    )


def days_of(values: npt.NDArray[np.float32]) -> Numbers:
    whole = len(values) // SLOTS
    return values[len(values) - whole * SLOTS :].astype(np.float64).reshape(whole, SLOTS)


def ratio(one: dict[str, Outcome], other: dict[str, Outcome], what: str) -> float:
    """Of the sums over all series."""
    ours, theirs = (sum(getattr(each, what) for each in both.values()) for both in (one, other))
    return float(ours / theirs)


def summary(outcomes: dict[str, Outcome]) -> dict[str, float]:
    all_ = list(outcomes.values())
    return {
        "below_demand_mean": round(float(np.mean([one.below for one in all_])), 5),
        "above_goal_mean": round(float(np.mean([one.hot for one in all_])), 5),
        "above_goal_median": round(float(np.median([one.hot for one in all_])), 5),
        "replica_hours": round(sum(one.hours for one in all_), 1),
    }


def unit(days: Numbers) -> float:
    """CPU of a replica at the goal."""
    return float(days[:-JUDGED].max()) / HIGHEST


def _base(day: int, step: int) -> int:
    return 1


def yesterday(days: Numbers, goal: int) -> MinimumAt:
    """The same time of the day before, as people write it into a schedule."""
    per, steps = unit(days), SLOT_S // STEP_S

    def at(day: int, step: int) -> int:
        first = step // steps
        line = [days[day - 1, min(first + ahead, SLOTS - 1)] for ahead in range(LEAD_SLOTS + 1)]
        return max(1, math.ceil(float(max(line)) / per))

    return at


def foreseen(days: Numbers, goal: int, spec: ScalerSpec) -> MinimumAt:
    """In the unit of thousandths of a replica's request, so that small series lose nothing to whole millis."""
    per, steps = unit(days), SLOT_S // STEP_S
    found = FoundAutoscaler(
        namespace="n",
        name="w",
        uid="u",
        version="1",
        minimum=1,
        maximum=MOST,
        workload=Workload(("n", "Deployment", "w")),
        goal=CpuGoal(percent=goal),
        request_millis=100_000,
    )
    # One replica carries goal % of its request; 100 cores of these are one request of the model's.
    scale = goal / per
    forecasts: dict[int, tuple[float | None, list[float], list[float]]] = {}
    window, now = StabilisingWindow(LOWERED_AFTER_S), 0.0

    def at(day: int, step: int) -> int:
        nonlocal now
        now += STEP_S
        if day not in forecasts:
            verdict = verdict_of(days[max(0, day - 21) : day], lead=LEAD_SLOTS)
            told = verdict.seasonal is not None and verdict.plan is not None
            plan = verdict.plan.day if told and verdict.plan is not None else None
            forecasts[day] = (
                verdict.skill,
                [] if plan is None else (plan.expected * scale).tolist(),
                [] if plan is None else (plan.upper * scale).tolist(),
            )
        skill, expected, upper = forecasts[day]
        slot = step // steps
        forecast = WorkloadForecast(
            ahead=highest_ahead(expected, slot=slot, ahead=LEAD_SLOTS) if expected else None,
            upper=highest_upper(expected, upper, slot=slot, ahead=LEAD_SLOTS) if expected else None,
            lead_s=LEAD_SLOTS * SLOT_S,
            skill=skill,
        )
        return window.see(wanted_minimum(spec, found, forecast).replicas, now=now)

    return at


def run(days: Numbers, goal: int, minimum_at: MinimumAt) -> Outcome:
    """The judged days, second by fifteen seconds."""
    per = unit(days)
    request = per * 100 / goal
    first = len(days) - JUDGED
    replicas = max(1, math.ceil(days[first, 0] / per))
    starting: deque[tuple[int, int]] = deque()
    """When how many become ready."""
    ready = replicas
    wanted_lately: deque[tuple[int, int]] = deque()
    below = hot = steps = 0
    hours = 0.0
    for number, (day, step, used, seen) in enumerate(loads(days, first)):
        now = number * STEP_S
        while starting and starting[0][0] <= now:
            ready += starting.popleft()[1]
        change = seen / (replicas * per)
        wanted = replicas if abs(change - 1) <= TOLERANCE else max(1, math.ceil(seen / per))
        wanted_lately.append((now, wanted))
        while wanted_lately[0][0] <= now - STABLE_S:
            wanted_lately.popleft()
        if wanted < replicas:
            wanted = min(replicas, max(one for _, one in wanted_lately))
        due = min(MOST, max(wanted, minimum_at(day, step)))
        ready = scaled(replicas, due, ready, starting, now)
        replicas = due
        below += ready * request < used
        hot += ready * per * (1 + TOLERANCE) < used
        hours += replicas * STEP_S / 3_600
        steps += 1
    return Outcome(below / steps, hot / steps, hours)


def scaled(before: int, due: int, ready: int, starting: deque[tuple[int, int]], now: int) -> int:
    """How many are ready at once; those that are not go first."""
    if due > before:
        starting.append((now + READY_S, due - before))
        return ready
    gone = before - due
    while gone and starting:
        at, count = starting.pop()
        if count > gone:
            starting.append((at, count - gone))
        gone -= min(gone, count)
    return ready - gone


def loads(days: Numbers, first: int) -> Iterator[tuple[int, int, float, float]]:
    """Day, step of the day, what is used, and what was used when metrics were last made."""
    line = days.ravel()
    per_slot = SLOT_S // STEP_S
    middles = (np.arange(len(line)) + 0.5) * per_slot
    every = np.interp(np.arange(len(line) * per_slot), middles, line)
    per_day, old = SLOTS * per_slot, OLD_S // STEP_S
    for number in range(first * per_day, len(every)):
        day, step = divmod(number, per_day)
        yield day, step, float(every[number]), float(every[number - old])
