"""Histograms that forget: one row of a matrix for each container, halved in weight every day.

Nothing is ever scaled down when time passes; new samples weigh more instead, by the time since a
reference. Only when those weights grow too large the reference moves, and all rows are scaled once.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Buckets, Numbers

HALF_LIFE_S = 86_400.0

MOST_HALF_LIVES = 100
"""Until the reference moves: 2^100 times a day's samples is still far from a float32's limit."""

EPSILON = 1e-4
"""A bucket with less weight is empty: a thousandth of one CPU sample."""

FAINT = 1e-6
"""The same for a row that has little because it is old, as a part of its whole weight."""

MANY_ROWS = 64
"""From so many on, their sums are made bucket by bucket, with the same figures: six times as fast for a thousand."""

ROWS_AT_ONCE = 1_024
"""That are scaled with one copy: of all together it would be as large as what is kept, and larger."""

Rows = npt.NDArray[np.intp]


class Histograms:
    def __init__(self, buckets: Buckets, *, rows: int) -> None:
        self._buckets = buckets
        self._edges = buckets.edges()
        self._weights: npt.NDArray[np.float32] = np.zeros((rows, buckets.count), dtype=np.float32)
        self._used = 0
        """Rows from here on have never been written, and take no memory."""
        self.reference_at = 0.0

    def add(self, rows: Rows, values: Numbers, weight: float, at: Numbers) -> None:
        """One sample for each of *rows*, which may name a row twice."""
        if not len(rows):
            return
        self._move_reference(float(at.max()))
        self._used = max(self._used, int(rows.max()) + 1)
        cells = rows * self._buckets.count + self._buckets.index(values)
        # By one number for each: by two numpy takes ten times as long.
        np.add.at(self._weights.reshape(-1), cells, self._decayed(weight, at))

    def subtract(self, rows: Rows, values: Numbers, weight: float, at: Numbers) -> None:
        """Take samples back that were added with the same numbers."""
        if not len(rows):
            return
        where = (rows, self._buckets.index(values))
        np.subtract.at(self._weights, where, self._decayed(weight, at))
        self._weights[where] = np.maximum(self._weights[where], 0.0)

    def clear(self, row: int) -> None:
        self._weights[row] = 0.0

    def percentile(self, share: float, rows: Rows) -> Numbers:
        """For each of *rows* the value that *share* of its weight does not exceed; 0 when empty."""
        return self.percentiles((share,), rows)[0]

    def percentiles(self, shares: Sequence[float], rows: Rows) -> list[Numbers]:
        """The same for each of *shares*: the sums that all of them need are most of the work."""
        weights = self._weights[rows]
        sums = _sums(weights)
        total = sums[-1]
        # Of an empty row no weight is enough.
        least = _float32_above(np.minimum(EPSILON, FAINT * total))
        least[~(total > 0)] = np.inf
        filled = weights >= least[:, np.newaxis]
        lowest = filled.argmax(axis=1)
        highest = self._buckets.count - 1 - filled[:, ::-1].argmax(axis=1)
        has_any = filled[np.arange(len(rows)), lowest]
        below = ((sums < share * total).sum(axis=0, dtype=np.intp) for share in shares)
        return [np.where(has_any, self._edges[np.clip(at, lowest, highest)], 0.0) for at in below]

    def weights(self, rows: Rows | int) -> npt.NDArray[np.float32]:
        """A copy of the weights of *rows*, which are saved together with `reference_at`."""
        return np.array(self._weights[rows], dtype=np.float32)

    def restore(self, row: int, weights: npt.NDArray[np.float32], reference_at: float) -> None:
        """Continue *row* where it was, whatever the reference was then."""
        self._move_reference(reference_at)
        self._used = max(self._used, row + 1)
        halvings = (self.reference_at - reference_at) / HALF_LIFE_S
        self._weights[row] = weights if halvings == 0 else weights * np.float64(2.0) ** -halvings

    def _decayed(self, weight: float, at: Numbers) -> npt.NDArray[np.float32]:
        decayed = weight * np.exp2((at - self.reference_at) / HALF_LIFE_S)
        return np.array(decayed, dtype=np.float32)

    def _move_reference(self, newest_at: float) -> None:
        if newest_at <= self.reference_at + MOST_HALF_LIVES * HALF_LIFE_S:
            return
        moved_to = round(newest_at / HALF_LIFE_S) * HALF_LIFE_S
        halvings = (moved_to - self.reference_at) / HALF_LIFE_S
        for begin in range(0, self._used, ROWS_AT_ONCE):
            some = self._weights[begin : min(begin + ROWS_AT_ONCE, self._used)]
            # Through float64: a weight that is too small for a float32 becomes 0, without a warning.
            some[...] = (some * np.float64(2.0) ** -halvings).astype(np.float32)
        self.reference_at = moved_to


def _sums(weights: npt.NDArray[np.float32]) -> Numbers:
    """By bucket and row: the weight of that bucket and of all below it."""
    sums: Numbers = np.ascontiguousarray(weights.T, dtype=np.float64)
    if len(weights) < MANY_ROWS:
        return np.asarray(np.cumsum(sums, axis=0), dtype=np.float64)
    for bucket in range(1, len(sums)):
        sums[bucket] += sums[bucket - 1]
    return sums


def _float32_above(amounts: Numbers) -> npt.NDArray[np.float32]:
    """The smallest numbers that are not below *amounts*: no weight compares otherwise with them."""
    nearest = amounts.astype(np.float32)
    above = np.nextafter(nearest, np.float32(np.inf))
    return np.asarray(np.where(nearest < amounts, above, nearest), dtype=np.float32)
