"""Buckets that grow by a ratio, as the Vertical Pod Autoscaler draws them, and finer ones below.

VPA's are 5 % wider than the one before, in 176 numbers; the formulas are its own to the letter. But its
first one is 10m of CPU wide, which is more than most services use: a service at 10.7m would get 21m. Ours
have a step of 1m up to 100m, and grow by 5 % from there.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Buckets:
    first: float
    """Width of the first bucket that is not an even one: finer differences are not seen."""
    largest: float
    """What is larger lands in the last bucket."""
    ratio: float = 1.05
    even: int = 0
    """Buckets of one width that lie below the others."""
    step: float = 0.0
    """Their width."""

    @property
    def count(self) -> int:
        growth, above = self.ratio - 1, self.largest - self.even * self.step
        return self.even + math.ceil(math.log(above * growth / self.first + 1, self.ratio)) + 1

    def start(self, bucket: int) -> float:
        if bucket < self.even:
            return bucket * self.step
        grown = self.first * (self.ratio ** (bucket - self.even) - 1) / (self.ratio - 1)
        return self.even * self.step + grown

    def edges(self) -> Numbers:
        """The value of a percentile that falls into each bucket: its upper edge, except for the last."""
        return _edges(self)

    def starts(self) -> Numbers:
        """The lower edge of each bucket."""
        return np.array([self.start(bucket) for bucket in range(self.count)])

    def index(self, values: Numbers) -> npt.NDArray[np.intp]:
        """The bucket of each of *values*."""
        above = values - self.even * self.step
        position = np.log(np.maximum(above, 0.0) * (self.ratio - 1) / self.first + 1)
        grown = np.where(above < self.first, 0, np.floor(position / math.log(self.ratio)))
        found = self.even + grown
        if self.even:
            found = np.where(above < 0, np.floor(values / self.step), found)
        return np.asarray(np.clip(found, 0, self.count - 1), dtype=np.intp)


@functools.cache
def _edges(buckets: Buckets) -> Numbers:
    """Made once: replays ask for it with each hour."""
    last = buckets.count - 1
    edges = np.array([buckets.start(min(bucket + 1, last)) for bucket in range(buckets.count)])
    edges.setflags(write=False)
    return edges


CPU = Buckets(first=0.005, largest=1000.0, even=100, step=0.001)
"""In cores."""

VPA_CPU = Buckets(first=0.01, largest=1000.0)
"""VPA's own, and those of rows that brains before this one saved."""

MEMORY = Buckets(first=1e7, largest=1e12)
"""In bytes; VPA's own."""


def moved(weights: npt.NDArray[np.float32], was: Buckets, now: Buckets) -> npt.NDArray[np.float32]:
    """*weights* of the buckets *was* as those of *now*: each is spread over what it covers."""
    # Few of a container's buckets hold anything.
    filled = np.flatnonzero(weights)
    shares = _shares(was, now)[filled]
    return np.asarray(weights[filled].astype(np.float64) @ shares, dtype=np.float32)


def moved_rows(
    weights: npt.NDArray[np.float32], was: Buckets, now: Buckets
) -> npt.NDArray[np.float32]:
    """The same for each row of *weights*."""
    rows, filled = np.nonzero(weights)
    into, shares = _parts(was, now)
    cells = rows[:, np.newaxis] * now.count + into[filled]
    parts = weights[rows, filled, np.newaxis].astype(np.float64) * shares[filled]
    return summed(cells.ravel(), parts.ravel(), (len(weights), now.count)).astype(np.float32)


def summed(cells: npt.NDArray[np.intp], weights: Numbers, shape: tuple[int, int]) -> Numbers:
    """The sum of the *weights* of each cell of a matrix; *cells* may name one twice."""
    found = np.bincount(cells, weights, minlength=shape[0] * shape[1])
    return np.asarray(found, dtype=np.float64).reshape(shape)


@functools.cache
def _parts(was: Buckets, now: Buckets) -> tuple[npt.NDArray[np.intp], Numbers]:
    """Of each bucket *was*, those of *now* over which it is spread, and how much of it lies in each."""
    shares = _shares(was, now)
    most = int(np.count_nonzero(shares, axis=1).max())
    into = np.argsort(shares == 0, axis=1, kind="stable")[:, :most]
    return into, np.take_along_axis(shares, into, axis=1)


@functools.cache
def _shares(was: Buckets, now: Buckets) -> Numbers:
    """Of each bucket *was*, the share that lies in each of *now*."""
    begins, ends = now.starts(), now.edges().copy()
    ends[-1] = np.inf
    starts, stops = was.starts(), was.edges()
    found = np.zeros((was.count, now.count))
    for bucket, (low, high) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        if high <= low:
            found[bucket, int(now.index(np.array([low]))[0])] = 1.0
            continue
        overlap = np.minimum(ends, high) - np.maximum(begins, low)
        found[bucket] = np.clip(overlap, 0.0, None) / (high - low)
    return found
