"""A usual week: for each of its 168 hours (UTC, from Monday) a small sketch of what the hour was like.

A sketch is four quantiles of the minutes of this hour in past weeks, and how much they weigh. Once in a week
the hour's minutes are added: old quantiles stand for the minutes that they were made of, and weigh less by a half
each two weeks, so a change of habits is believed after two or three. The highest minute is kept exactly, for the
current four weeks and the four before them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.figures import Figure
from nemutator_controller.ingest.usage_codes import CoarseCodes, Numbers

SLOTS = 168
HOUR_S = 3600
_MONDAY = 72
"""The epoch began on a Thursday: hours from the Monday before it."""

SHARES = (0.25, 0.5, 0.75, 0.95)
_MASSES = np.array([0.375, 0.25, 0.225, 0.15])
"""The share of minutes that each quantile stands for. Their sums pass each share at its own quantile: a sketch
to which nothing is added stays what it is."""

HALVED_WEEKS = 2.0
_UNITS = 16
"""Weights are kept in sixteenths of a minute."""
_LEAST_WEIGHT = 4
"""With less, after four months without a whole hour or one month without a minute, it is not known any more."""

PERIOD_WEEKS = 4
"""The highest minute is of this period and of the one before it."""


def slot_of(hour: int) -> int:
    """The hour of the week, of an hour since the epoch."""
    return (hour + _MONDAY) % SLOTS


def week_of(hour: int) -> int:
    return (hour + _MONDAY) // SLOTS


@dataclass(frozen=True, slots=True)
class WeekFigure:
    quantiles: CoarseCodes
    """By row, slot and share."""
    highest: CoarseCodes
    """By row, slot, and whether it is of this period (0) or of the one before (1)."""


@dataclass(frozen=True, slots=True)
class WeekView:
    """A usual week of one row; NaN: not known."""

    minutes: Numbers
    """How many minutes each slot was made of, those of past weeks weighing less."""
    figures: Mapping[str, Mapping[str, Numbers]]
    """By name, then `p25`, `median`, `p75`, `p95` and `max`."""


@dataclass(slots=True)
class Weeks:
    figures: Sequence[Figure]
    rows: int
    weights: npt.NDArray[np.uint16] = field(init=False)
    """By row and slot."""
    folded: npt.NDArray[np.int64] = field(init=False)
    """The week whose hour was folded last, by slot; 0: none."""
    by_figure: dict[str, WeekFigure] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.weights = np.zeros((self.rows, SLOTS), dtype=np.uint16)
        self.folded = np.zeros(SLOTS, dtype=np.int64)

    def figure(self, name: str) -> WeekFigure:
        found = self.by_figure.get(name)
        if found is None:
            found = self.by_figure[name] = WeekFigure(
                np.zeros((self.rows, SLOTS, len(SHARES)), dtype=np.uint8),
                np.zeros((self.rows, SLOTS, 2), dtype=np.uint8),
            )
        return found

    def begin(self, hour: int, *, used: int) -> bool:
        """Age the slot of *hour* before its minutes are folded; False: it has been folded already."""
        slot, week = slot_of(hour), week_of(hour)
        last = int(self.folded[slot])
        if week <= last:
            return False
        if last:
            self._age(slot, last, week, used)
        self.folded[slot] = week
        return True

    def fold(self, rows: slice, hour: int, means: Mapping[str, Numbers]) -> None:
        """Add the minutes of *hour*: for each figure a line of means for each row, NaN where not known."""
        slot = slot_of(hour)
        old = self.weights[rows, slot] / _UNITS
        added = np.zeros_like(old)
        for one in self.figures:
            fresh = means.get(one.name)
            if one.weekly is None or fresh is None:
                continue
            kept = self.figure(one.name)
            count = (~np.isnan(fresh)).sum(axis=1)
            some = np.flatnonzero(count) + (rows.start or 0)
            if not len(some):
                continue
            fresh = fresh[count > 0]
            quantiles = one.weekly.decode(kept.quantiles[some, slot])
            merged = merge(quantiles, old[count > 0], fresh)
            kept.quantiles[some, slot] = one.weekly.encode(merged)
            highest = one.weekly.encode_up(np.nanmax(fresh, axis=1))
            kept.highest[some, slot, 0] = np.maximum(kept.highest[some, slot, 0], highest)
            added = np.maximum(added, count)
        self.weights[rows, slot] = np.rint((old + added) * _UNITS)

    def step_back(self, hour: int) -> None:
        """It is only *hour*, whatever was thought before."""
        for slot in range(SLOTS):
            # Of the last hour with this slot that is over.
            week = week_of(hour - 1 - (slot_of(hour - 1) - slot) % SLOTS)
            self.folded[slot] = min(int(self.folded[slot]), week)

    def clear_row(self, row: int) -> None:
        for matrix in self.matrices():
            matrix[row] = 0

    def matrices(self) -> list[npt.NDArray[np.unsignedinteger]]:
        figures = self.by_figure.values()
        return [self.weights, *(m for one in figures for m in (one.quantiles, one.highest))]

    def view(self, row: int) -> WeekView:
        figures = {}
        for one in self.figures:
            kept = self.by_figure.get(one.name)
            if one.weekly is None or kept is None:
                continue
            quantiles = one.weekly.decode(kept.quantiles[row])
            shown = dict(zip(("p25", "median", "p75", "p95"), quantiles.T, strict=True))
            highest = one.weekly.decode(kept.highest[row].max(axis=1))
            figures[one.name] = {**shown, "max": highest}
        return WeekView(self.weights[row] / _UNITS, figures)

    def _age(self, slot: int, last: int, week: int, used: int) -> None:
        aged = self.weights[:used, slot] * 2.0 ** (-(week - last) / HALVED_WEEKS)
        gone = aged < _LEAST_WEIGHT
        self.weights[:used, slot] = np.where(gone, 0, np.rint(aged))
        passed = week // PERIOD_WEEKS - last // PERIOD_WEEKS
        for kept in self.by_figure.values():
            highest = kept.highest[:used, slot]
            if passed:
                highest[:, 1] = highest[:, 0] if passed == 1 else 0
                highest[:, 0] = 0
            highest[gone] = 0
            kept.quantiles[:used, slot][gone] = 0


def merge(quantiles: Numbers, weights: Numbers, fresh: Numbers) -> Numbers:
    """The quantiles of what *quantiles* (with *weights*) stand for and of *fresh* values together, by line.

    NaN in *fresh* counts for nothing, and a line of *quantiles* that is not known weighs nothing.
    """
    old = np.where(np.isnan(quantiles), 0.0, weights[:, np.newaxis] * _MASSES)
    values = np.concatenate([quantiles, fresh], axis=1)
    masses = np.concatenate([old, (~np.isnan(fresh)).astype(np.float64)], axis=1)
    # NaN comes last.
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    reached = np.take_along_axis(masses, order, axis=1).cumsum(axis=1)
    whole = reached[:, -1:]
    found = np.empty_like(quantiles)
    for number, share in enumerate(SHARES):
        # A little less, so that a sum of shares that is exact on paper is reached.
        place = (reached >= whole * (share - 1e-9)).argmax(axis=1)
        found[:, number] = np.take_along_axis(values, place[:, np.newaxis], axis=1)[:, 0]
    return found
