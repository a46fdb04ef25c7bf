"""The largest use of memory of each of the last days, exactly, and what a kill for memory says was missing.

A container that once needed it will need it again, and how often it did does not matter: so a day is one
number, and the numbers are kept as they are.
"""

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.histograms import Rows

DAY_S = 86_400.0

PEAK_DAYS = 14
"""KRR's history: 336 hours."""

KILL_RATIO = 1.2
KILL_BYTES = 100 * 1024.0**2
"""After a kill the container is taken to have needed a fifth more than it had, and that much at least: as VPA."""


def needed_after_kill(had: Numbers) -> Numbers:
    """What a container needed that was killed for memory when it *had* so much."""
    return np.asarray(np.maximum(had + KILL_BYTES, had * KILL_RATIO), dtype=np.float64)


class DailyPeaks:
    def __init__(self, rows: int) -> None:
        self.largest = np.zeros((rows, PEAK_DAYS))
        self.needed = np.zeros((rows, PEAK_DAYS))
        """By kills for memory of that day; 0 where there was none."""
        self.days = np.zeros((rows, PEAK_DAYS), dtype=np.int32)
        """In days since the epoch."""

    def clear(self, row: int) -> None:
        self.largest[row] = self.needed[row] = self.days[row] = 0

    def note(self, rows: Rows, to_at: Numbers, used: Numbers) -> None:
        """A later day takes the place of the one two weeks before it."""
        days = (to_at // DAY_S).astype(np.int64)
        if days.min() == days.max() and (rows[1:] >= rows[:-1]).all():
            # As nearly always: each row has one cell, and needs no order.
            starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
            of, most = rows[starts], np.maximum.reduceat(used, starts)
            self._note(of, days[starts] % PEAK_DAYS, days[starts], most)
            return
        cells = rows * PEAK_DAYS + days % PEAK_DAYS
        order = np.lexsort((used, days, cells))
        cells, days, used = cells[order], days[order], used[order]
        last = np.append(cells[1:] != cells[:-1], True)
        at, slots = np.divmod(cells[last], PEAK_DAYS)
        self._note(at, slots, days[last], used[last])

    def _note(self, at: Rows, slots: Rows, days: Rows, used: Numbers) -> None:
        """The most that was *used* of some cells, each of which comes once."""
        known, largest = self.days[at, slots], self.largest[at, slots]
        newer = days > known
        self.needed[at[newer], slots[newer]] = 0.0
        more = newer | ((days == known) & (used > largest))
        self.days[at[more], slots[more]] = days[more]
        self.largest[at[more], slots[more]] = used[more]

    def note_kills(self, rows: Rows, to_at: Numbers, had: Numbers) -> None:
        """Kills for memory, of containers that *had* so much; their days are noted already."""
        days = (to_at // DAY_S).astype(np.int64)
        slots = days % PEAK_DAYS
        same = self.days[rows, slots] == days
        rows, slots = rows[same], slots[same]
        had = np.maximum(had[same], self.largest[rows, slots])
        np.maximum.at(self.needed, (rows, slots), needed_after_kill(had))

    def has_kill(self, row: int, at: float) -> bool:
        """Whether one is known of the day of *at*."""
        day = int(at // DAY_S)
        slot = day % PEAK_DAYS
        return bool(self.days[row, slot] == day and self.needed[row, slot] > 0)

    def most(self, rows: Rows, *, now: float, days: int) -> tuple[Numbers, Numbers]:
        """The largest peak of the last *days*, and what kills in them say was needed."""
        recent = self._recent(rows, now=now, days=days)
        largest = np.where(recent, self.largest[rows], 0.0).max(axis=1, initial=0.0)
        return largest, np.where(recent, self.needed[rows], 0.0).max(axis=1, initial=0.0)

    def percentile(self, share: float, rows: Rows, *, now: float, days: int) -> Numbers:
        """Of the peaks of the last *days*, each of which counts half as much as the one after it."""
        recent = self._recent(rows, now=now, days=days)
        largest = np.where(recent, self.largest[rows], 0.0)
        age = int(now // DAY_S) - self.days[rows]
        weights = np.where(recent, np.exp2(-np.clip(age, 0, 60)), 0.0)
        order = np.argsort(largest, axis=1, kind="stable")
        weights = np.take_along_axis(weights, order, axis=1)
        reached = weights.cumsum(axis=1) >= share * weights.sum(axis=1, keepdims=True)
        at = np.take_along_axis(order, reached.argmax(axis=1)[:, np.newaxis], axis=1)
        return np.asarray(np.take_along_axis(largest, at, axis=1)[:, 0], dtype=np.float64)

    def _recent(self, rows: Rows, *, now: float, days: int) -> npt.NDArray[np.bool_]:
        return np.asarray(self.days[rows] > int(now // DAY_S) - days)
