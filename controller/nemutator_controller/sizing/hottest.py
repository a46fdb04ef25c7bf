"""The histograms of the two busiest replicas of each workload.

All replicas of a workload get the same requests, so the busiest one decides: of 30 replicas of which one
works, a histogram of all has that one above its 95th percentile and does not see it. One histogram for each
replica would be most of the brain's memory. Which replicas are the busiest needs no histogram of the others:
one that uses half as much again as the quieter of the two did lately takes its place.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Buckets, Numbers
from nemutator_controller.sizing.histograms import HALF_LIFE_S, Histograms, Rows

PLACES = 2
"""Of each workload."""

LEAST_POINTS = 100
"""With fewer, KRR gives no value of a pod: a short burst would be taken for what it always needs."""

RIVAL = 1.5
RIVAL_CORES = 0.01
"""By how much a replica must exceed what the other used lately, to take its place."""

LATELY_S = 3600.0
"""The half-life of what a replica used lately at most."""

SEVERAL = -1

Replicas = npt.NDArray[np.int64]

_PLACE = np.dtype(
    [("row", np.intp), ("replica", np.int64), ("points", np.int64), ("high", np.float64), ("last_at", np.float64)]
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class SavedReplica:
    """What is kept of one of the busiest."""

    replica: int
    points: int
    high: float
    last_at: float
    cpu: npt.NDArray[np.float32]


class HottestReplicas:
    """At most *most* histograms, for *rows* workloads; when there is no room, the others are not told apart."""

    def __init__(self, buckets: Buckets, *, rows: int, most: int) -> None:
        self._most = most
        self._only = np.zeros(rows, dtype=np.int64)
        """The only replica of each row; 0: it has none yet."""
        self._places = np.full((rows, PLACES), -1, dtype=np.intp)
        self._state = np.zeros(most, dtype=_PLACE)
        self._used = 0
        """Places from here on have never been used, and take no memory."""
        self._free: list[int] = []
        """Those before it that are nobody's."""
        self.histograms = Histograms(buckets, rows=most)

    def __len__(self) -> int:
        return self._used - len(self._free)

    def clear(self, row: int) -> None:
        for place in self._places[row].tolist():
            if place >= 0:
                self.histograms.clear(place)
                self._free.append(place)
        self._places[row], self._only[row] = -1, 0

    def add(
        self, rows: Rows, replicas: Replicas, cores: Numbers, at: Numbers, *, weight: float
    ) -> None:
        """Samples in the order of *rows*, as far as they are of replicas that have a place or get one."""
        new = self._only[rows] == 0
        self._only[rows[new][::-1]] = replicas[new][::-1]
        only = self._only[rows]
        self._only[rows[(only != SEVERAL) & (only != replicas)]] = SEVERAL
        told = self._only[rows] == SEVERAL
        if not told.any():
            return
        rows, replicas, cores, at = rows[told], replicas[told], cores[told], at[told]
        self._give_places(rows, replicas, cores, at)
        places = self._places_of(rows, replicas)
        has = places >= 0
        places, cores, at = places[has], cores[has], at[has]
        if not len(places):
            return
        self.histograms.add(places, cores, weight, at)
        state = self._state
        np.add.at(state["points"], places, 1)
        aged = np.exp2(-np.clip(at - state["last_at"][places], 0.0, HALF_LIFE_S) / LATELY_S)
        high = np.maximum(state["high"][places] * aged, cores)
        # The last of each place wins; what was the highest stays so, or nearly.
        state["high"][places] = high
        np.maximum.at(state["high"], places, cores)
        np.maximum.at(state["last_at"], places, at)

    def percentile(self, share: float, rows: Rows, *, since: float) -> Numbers:
        """The highest among the busiest replicas of each row; 0 where none is known well enough."""
        found = np.zeros(len(rows))
        for number in range(PLACES):
            places = self._places[rows, number]
            state = self._state[places]
            counts = (places >= 0) & (state["points"] >= LEAST_POINTS) & (state["last_at"] >= since)
            if counts.any():
                theirs = self.histograms.percentile(share, places[counts])
                found[counts] = np.maximum(found[counts], theirs)
        return found

    def kept(self, rows: Rows) -> Iterator[tuple[int, tuple[SavedReplica, ...]]]:
        """Of each row its only replica or `SEVERAL`, and those that have a place."""
        places = self._places[rows]
        has = places >= 0
        replicas = self._replicas(places[has])
        for only, count in zip(self._only[rows].tolist(), has.sum(axis=1).tolist(), strict=True):
            yield only, tuple(islice(replicas, count))

    def _replicas(self, places: Rows) -> Iterator[SavedReplica]:
        states = self._state[places].tolist()
        for state, cpu in zip(states, self.histograms.weights(places), strict=True):
            _, replica, points, high, last_at = state
            yield SavedReplica(replica=replica, points=points, high=high, last_at=last_at, cpu=cpu)

    def restore(
        self, row: int, only: int, kept: tuple[SavedReplica, ...], *, reference_at: float
    ) -> None:
        self._only[row] = only
        for number, one in enumerate(kept[:PLACES]):
            place = self._take()
            if place is None:
                return
            self._places[row, number] = place
            self._state[place] = (row, one.replica, one.points, one.high, one.last_at)
            self.histograms.restore(place, one.cpu, reference_at)

    def _places_of(self, rows: Rows, replicas: Replicas) -> Rows:
        places = self._places[rows]
        ours = (places >= 0) & (self._state["replica"][places] == replicas[:, np.newaxis])
        return np.asarray(np.where(ours, places, -1).max(axis=1), dtype=np.intp)

    def _give_places(self, rows: Rows, replicas: Replicas, cores: Numbers, at: Numbers) -> None:
        without = self._places_of(rows, replicas) < 0
        places = self._places[rows]
        aged = np.exp2(
            -np.clip(at[:, np.newaxis] - self._state["last_at"][places], 0.0, None) / LATELY_S
        )
        high = np.where(places >= 0, self._state["high"][places] * aged, -np.inf).min(axis=1)
        wants = without & (cores > np.maximum(high * RIVAL, high + RIVAL_CORES))
        if len(self) >= self._most:
            # Where a row has an empty place there is nothing to give, and it would be asked for with each sample.
            wants &= (places >= 0).all(axis=1)
        # Of each replica the sample that says most for it: what comes at once may have many.
        candidates = np.flatnonzero(wants)
        order = np.lexsort((-cores[candidates], replicas[candidates], rows[candidates]))
        candidates = candidates[order]
        begins = np.ones(len(candidates), dtype=np.bool_)
        begins[1:] = (np.diff(rows[candidates]) != 0) | (np.diff(replicas[candidates]) != 0)
        candidates = np.sort(candidates[begins])
        # All columns as numbers of Python: the first report of a large cluster brings thousands of candidates.
        for row, replica, core, when in zip(
            *(column[candidates].tolist() for column in (rows, replicas, cores, at)), strict=True
        ):
            self._give(row, replica, core, when)

    def _give(self, row: int, replica: int, cores: float, at: float) -> None:
        """A place in *row* to *replica*, if it has none yet and there is a free one, or one that it may take."""
        places = self._places[row].tolist()
        state = self._state
        of, highs, last = state["replica"], state["high"], state["last_at"]
        lowest, least = -1, math.inf
        for place in places:
            if place < 0:
                continue
            if of[place] == replica:
                return
            high = float(highs[place]) * 2.0 ** (-max(at - float(last[place]), 0.0) / LATELY_S)
            if high < least:
                lowest, least = place, high
        if -1 in places:
            free = self._take()
            if free is not None:
                self._places[row, places.index(-1)] = free
                self._state[free] = (row, replica, 0, cores, at)
        elif cores > max(least * RIVAL, least + RIVAL_CORES):
            self.histograms.clear(lowest)
            self._state[lowest] = (row, replica, 0, cores, at)

    def _take(self) -> int | None:
        """A place that is nobody's; None: there is none."""
        if self._free:
            return self._free.pop()
        if self._used >= self._most:
            return None
        self._used += 1
        return self._used - 1
