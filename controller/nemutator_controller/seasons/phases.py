"""From a day that is expected to the season of a moment, without flapping: pure.

A slot is a peak where much is expected, off-peak where little is, and between the two it stays what it was.
Runs shorter than an hour are merged into their surroundings. The lead before a peak is pre-peak, so that what
has to be ready by then can be. Use far above what was expected is a surprise, at once after three slots
of it; it ends when use is back for as long as a season has to last. So is a peak that has not come for an
hour, as on a holiday; that one ends with the peak at the latest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

import numpy as np
import numpy.typing as npt

from nemutator_controller.seasons.backtests import NextDay
from nemutator_controller.seasons.experts import Numbers

Flags = npt.NDArray[np.bool_]
Season = Literal["off-peak", "pre-peak", "peak", "surprise", "flat", "unknown"]

PEAK_FROM = 0.6
OFF_PEAK_TO = 0.35
"""Between the lowest and the highest that is expected."""
LARGEST_TROUGH = 0.7
"""A day whose trough is above this share of its peak has no seasons that matter."""
_LOW, _HIGH = 0.05, 0.95

SHORTEST_RUN = 1 / 24
"""Of a day: seasons last an hour at least."""
SURPRISED_SLOTS = 3
"""Fewer are chance, in a peak that does not come as well as in one that nobody expected."""
CALM = 1 / 48
"""Of a day: use must be as expected for half an hour until a surprise is over."""


@dataclass(frozen=True, slots=True)
class Levels:
    """What divides a day that is expected."""

    low: float
    high: float

    @property
    def peak(self) -> float:
        return self.low + PEAK_FROM * (self.high - self.low)

    @property
    def off_peak(self) -> float:
        return self.low + OFF_PEAK_TO * (self.high - self.low)

    @property
    def trough(self) -> float:
        """The lowest as a share of the highest; 1: there is no use at all."""
        return self.low / self.high if self.high > 0 else 1.0


def levels_of(expected: Numbers) -> Levels:
    low, high = np.quantile(expected, (_LOW, _HIGH))
    return Levels(float(low), float(high))


def over_an_hour(day: Numbers) -> Numbers:
    """Means over an hour around each slot: what lasts for less is no season."""
    half = round(len(day) * SHORTEST_RUN / 2)
    around = np.concatenate([day[len(day) - half :], day, day[:half]])
    return np.convolve(around, np.full(2 * half + 1, 1.0 / (2 * half + 1)), mode="valid")


def peaks_of(expected: Numbers, levels: Levels) -> Flags:
    """Which slots are a peak. The day before is taken to have been as this one."""
    slots = len(expected)
    marked: list[bool | None] = [
        True if use >= levels.peak else False if use <= levels.off_peak else None
        for use in expected.tolist()
    ]
    first = next((number for number, one in enumerate(marked) if one is not None), None)
    if first is None:
        return np.zeros(slots, dtype=np.bool_)
    found: list[bool] = []
    now = bool(marked[first])
    # Twice around, so that the day's first slots know how the evening ended.
    for one in (*marked[first:], *marked[:first]):
        now = now if one is None else one
        found.append(now)
    turned = found[slots - first :] + found[: slots - first] if first else found
    return np.array(_merged(turned, max(1, round(slots * SHORTEST_RUN))), dtype=np.bool_)


def _merged(peaks: list[bool], least: int) -> list[bool]:
    """Short dips first, then short peaks: two that are near each other are one."""
    if all(peaks) or not any(peaks):
        return peaks
    for word in (False, True):
        # From an edge on, so that no run is cut by midnight.
        edge = next(n for n in range(len(peaks)) if peaks[n] != peaks[n - 1])
        turned = peaks[edge:] + peaks[:edge]
        made: list[bool] = []
        for value, run in groupby(turned):
            length = len(list(run))
            made += [not value if value is word and length < least else value] * length
        peaks = made[len(made) - edge :] + made[: len(made) - edge]
        if all(peaks) or not any(peaks):
            return peaks
    return peaks


@dataclass(frozen=True, slots=True)
class DayPlan:
    """The seasons of a day that is expected, by slot."""

    seasons: tuple[Season, ...]
    levels: Levels
    day: NextDay


def day_plan(day: NextDay, *, lead: int) -> DayPlan:
    """*lead*: slots before a peak in which it is prepared for."""
    steady = over_an_hour(day.expected)
    levels = levels_of(steady)
    peaks = peaks_of(steady, levels)
    if levels.trough > LARGEST_TROUGH or peaks.all() or not peaks.any():
        flat: Season = "flat"
        return DayPlan((flat,) * len(peaks), levels, day)
    seasons: list[Season] = ["peak" if one else "off-peak" for one in peaks.tolist()]
    for number in range(len(seasons)):
        ahead = (number + step for step in range(1, lead + 1))
        if not peaks[number] and any(peaks[one % len(peaks)] for one in ahead):
            seasons[number] = "pre-peak"
    return DayPlan(tuple(seasons), levels, day)


@dataclass(frozen=True, slots=True)
class SeasonState:
    """What a workload's season is, and how it came to be."""

    season: Season = "unknown"
    since: float = 0.0
    above: int = 0
    """Slots in a row in which more was used than expected."""
    below: int = 0
    """Slots in a row of a peak in which as little was used as off-peak."""
    calm: int = 0
    """Slots in a row in which neither was so."""
    misses_peak: bool = False
    """Of a surprise: whether it is a peak that has not come."""

    @property
    def is_excess(self) -> bool:
        """Whether far more is used than was expected."""
        return self.season == "surprise" and not self.misses_peak


def observed(state: SeasonState, plan: DayPlan, slot: int, used: float | None) -> SeasonState:
    """*state* once *slot* is over, in which *used* was seen; None: nothing was."""
    if used is None:
        # What is not seen is no calm: without a report the careful answer stays.
        return replace(state, above=0, below=0)
    in_peak, levels = plan.seasons[slot] == "peak", plan.levels
    is_more = not in_peak and used > plan.day.upper[slot] and used >= levels.peak
    is_less = in_peak and used < plan.day.lower[slot] and used <= levels.off_peak
    return replace(
        state,
        above=state.above + 1 if is_more else 0,
        below=state.below + 1 if is_less else 0,
        calm=0 if is_more or is_less else state.calm + 1,
    )


def season_at(state: SeasonState, plan: DayPlan, slot: int, *, at: float) -> SeasonState:
    """*state* in *slot*, which has begun."""
    slots = len(plan.seasons)
    season: Season = plan.seasons[slot]
    in_peak = season == "peak"
    if in_peak:
        begins = state.below >= max(SURPRISED_SLOTS, round(slots * SHORTEST_RUN))
    else:
        begins = state.above >= SURPRISED_SLOTS
    goes_on = state.season == "surprise" and state.misses_peak is in_peak
    if begins or (goes_on and state.calm < max(1, round(slots * CALM))):
        season = "surprise"
    if season == state.season and state.misses_peak is (season == "surprise" and in_peak):
        return state
    return replace(state, season=season, since=at, misses_peak=season == "surprise" and in_peak)


def stepped(
    state: SeasonState, plan: DayPlan, slot: int, used: float | None, *, at: float
) -> SeasonState:
    """Both: the state in the slot after *slot*."""
    after = (slot + 1) % len(plan.seasons)
    return season_at(observed(state, plan, slot, used), plan, after, at=at)


def runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Begin and end of each run of true ones."""
    found, at = [], 0
    for value, run in groupby(flags):
        length = len(list(run))
        if value:
            found.append((at, at + length))
        at += length
    return found
