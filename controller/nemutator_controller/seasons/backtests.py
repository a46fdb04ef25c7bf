"""Forecasts of a next day, and what they were worth on the days that are over: pure.

Each day that is over was forecast from those before it alone. An expert's losses on them, those of late days
counting more, say how much it is followed; the errors of the combined forecasts say how far the next day may
lie from it (a conformal interval, whose width is corrected by how many points it has missed so far); and
beside the plain median of the days before they say whether there is a season at all.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nemutator_controller.seasons.experts import Numbers, expert_days

KEPT_LOSS = 0.4
"""What counts of a loss on each day after it."""
SHARPNESS = 10.0
"""How much less an expert is followed that has lost so many times more than the best one."""

COVERAGE = 0.90
ERROR_DAYS = 7
"""Errors of so many days make the interval."""
_CORRECTION = 0.3
"""How much of what was missed too often or too rarely is corrected a day."""

JUDGED_DAYS = 3
"""The held-out days, each of which is forecast from those before it, by which a season is judged."""

_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class NextDay:
    """By slot."""

    expected: Numbers
    lower: Numbers
    upper: Numbers


@dataclass(frozen=True)
class Backtest:
    """*days* are lines without gaps, at least two."""

    days: Numbers

    @cached_property
    def experts(self) -> Numbers:
        """By day from the second, expert and slot; the last one is the day to come."""
        return np.stack([expert_days(self.days[:end]) for end in range(1, len(self.days) + 1)])

    @cached_property
    def losses(self) -> Numbers:
        """By day that is over, from the second, and expert: the share of the day's use that was wrong."""
        over = self.days[1:]
        wrong = np.abs(over[:, np.newaxis] - self.experts[:-1]).sum(axis=2)
        used = np.abs(over).sum(axis=1)
        share: Numbers = wrong / np.maximum(used, _LEAST)[:, np.newaxis]
        return share

    @cached_property
    def combined(self) -> Numbers:
        """The forecast of each day from the third, and of the day to come."""
        found = []
        lost, weight = np.zeros(self.experts.shape[1]), 0.0
        for before, said in zip(self.losses, self.experts[1:], strict=True):
            lost, weight = lost * KEPT_LOSS + before, weight * KEPT_LOSS + 1.0
            found.append(_followed(lost / weight, said))
        return np.stack(found) if found else self.experts[:0, 0]

    @cached_property
    def errors(self) -> Numbers:
        """Of the days from the third, in the unit of the series."""
        return self.days[2:] - self.combined[:-1]

    def next_day(self) -> NextDay:
        return self._with_interval(len(self.combined) - 1)

    def past_days(self) -> list[NextDay]:
        """What was forecast of the days from the fourth, each from those before it."""
        return [self._with_interval(number) for number in range(1, len(self.combined) - 1)]

    def coverage(self) -> float | None:
        """The share of points of past days within the interval that was forecast; None: there are none."""
        past = self.past_days()
        if not past:
            return None
        inside = [
            (one.lower <= day) & (day <= one.upper)
            for one, day in zip(past, self.days[3:], strict=True)
        ]
        return float(np.mean(inside))

    def skill(self) -> float | None:
        """How much less is wrong than with a plain median, on the judged days; 1: nothing is, 0: as much.

        The better one of two medians, of all days before and of the last one: a step of the level is no season.
        None: there are too few days.
        """
        judged = min(JUDGED_DAYS, len(self.days) - 3)
        if judged < 1:
            return None
        ours = of_all = of_last = 0.0
        for number in range(len(self.days) - judged, len(self.days)):
            day = self.days[number]
            ours += float(np.abs(day - self.combined[number - 2]).sum())
            of_all += float(np.abs(day - np.median(self.days[:number])).sum())
            of_last += float(np.abs(day - np.median(self.days[number - 1])).sum())
        plain = min(of_all, of_last)
        return 1.0 - ours / plain if plain > _LEAST else None

    def _with_interval(self, number: int) -> NextDay:
        expected = self.combined[number]
        below, above = self._margins[number]
        scale = _scale(expected)
        return NextDay(
            expected, np.maximum(expected - below * scale, 0.0), expected + above * scale
        )

    @cached_property
    def _margins(self) -> list[tuple[float, float]]:
        """For each of `combined` how far below and above it a day may be, in scales."""
        relative = [
            error / _scale(said) for error, said in zip(self.errors, self.combined, strict=False)
        ]
        found: list[tuple[float, float]] = []
        miss = 1.0 - COVERAGE
        asked = miss
        for number in range(len(self.combined)):
            known = relative[max(0, number - ERROR_DAYS) : number]
            if not known:
                found.append((np.inf, np.inf))
                continue
            pool = np.concatenate(known)
            share = min(max(asked, 0.002), 0.5) / 2
            low, high = np.quantile(pool, (share, 1.0 - share))
            found.append((max(-float(low), 0.0), max(float(high), 0.0)))
            if number < len(relative):
                below, above = found[-1]
                missed = float(np.mean((relative[number] < -below) | (relative[number] > above)))
                asked += _CORRECTION * (miss - missed)
        return found


def _followed(losses: Numbers, said: Numbers) -> Numbers:
    best = max(float(losses.min()), 0.01)
    weights = np.exp(-SHARPNESS * (losses - losses.min()) / best)
    found: Numbers = weights @ said / weights.sum()
    return found


def _scale(expected: Numbers) -> Numbers:
    """By what errors are measured at each slot: they grow with what is expected, and not below a part of the day."""
    level = float(np.mean(np.abs(expected)))
    return np.maximum(np.abs(expected), 0.3 * level) + _LEAST
