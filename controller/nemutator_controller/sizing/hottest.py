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
from typing import TypeVar

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

NEARLY = 1 - 1e-6
"""Of a bound for many samples: whoever is beyond its own by rounding alone is still looked at."""

LATELY_S = 3600.0
"""The half-life of what a replica used lately at most."""

SEVERAL = -1

Replicas = npt.NDArray[np.int64]

A = TypeVar("A", bound=np.generic)

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
        groups = _RowGroups.of(rows)
        if not (self._only[groups.rows] == SEVERAL).all():
            self._note_only(rows, replicas)
            told = self._only[rows] == SEVERAL
            if not told.any():
                return
            rows, replicas, cores, at = rows[told], replicas[told], cores[told], at[told]
            groups = _RowGroups.of(rows)
        places = self._places_of(groups, replicas)
        if self._give_places(groups, replicas, cores, at, without=places < 0):
            places = self._places_of(groups, replicas)
        has = np.flatnonzero(places >= 0)
        if not len(has):
            return
        places, cores, at = places[has], cores[has], at[has]
        self.histograms.add(places, cores, weight, at)
        state = self._state
        np.add.at(state["points"], places, 1)
        aged = np.exp2(-np.clip(at - state["last_at"][places], 0.0, HALF_LIFE_S) / LATELY_S)
        high = np.maximum(state["high"][places] * aged, cores)
        # The last of each place wins; what was the highest stays so, or nearly.
        state["high"][places] = high
        np.maximum.at(state["high"], places, cores)
        np.maximum.at(state["last_at"], places, at)

    def _note_only(self, rows: Rows, replicas: Replicas) -> None:
        new = self._only[rows] == 0
        self._only[rows[new][::-1]] = replicas[new][::-1]
        only = self._only[rows]
        self._only[rows[(only != SEVERAL) & (only != replicas)]] = SEVERAL

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

    def _places_of(self, groups: "_RowGroups", replicas: Replicas) -> Rows:
        """Of each sample; -1 where its replica has none."""
        found = np.full(len(replicas), -1, dtype=np.intp)
        for places in self._places[groups.rows].T:
            # Looked up once for each row: each has many samples.
            ours = groups.each(self._state["replica"][places]) == replicas
            if places.min() < 0:
                ours &= groups.each(places >= 0)
            np.maximum(found, groups.each(places), out=found, where=ours)
        return found

    def _lately(self, rows: Rows, at: Numbers) -> Numbers:
        """What the quieter of the two replicas that have the places of each of *rows* used lately at most, as it is *at* some time;
        where a place is empty, less than anything."""
        places = self._places[rows]
        last_at = self._state["last_at"][places]
        aged = np.exp2(-np.clip(at[:, np.newaxis] - last_at, 0.0, None) / LATELY_S)
        lately = np.where(places >= 0, self._state["high"][places] * aged, -np.inf)
        return np.asarray(lately.min(axis=1), dtype=np.float64)

    def _give_places(
        self,
        groups: "_RowGroups",
        replicas: Replicas,
        cores: Numbers,
        at: Numbers,
        *,
        without: npt.NDArray[np.bool_],
    ) -> bool:
        """Whether one of those *without* a place may have got one."""
        # By the last moment of each row what was used lately counts least: hardly any sample is left that has to be looked at itself.
        least = _rivalling(self._lately(groups.rows, np.maximum.reduceat(at, groups.starts)))
        some = np.flatnonzero(without & (cores > groups.each(least * NEARLY)))
        if not len(some):
            return False
        rows, replicas, cores, at = (
            groups.each(groups.rows)[some],
            replicas[some],
            cores[some],
            at[some],
        )
        wants = cores > _rivalling(self._lately(rows, at))
        if len(self) >= self._most:
            # Where a row has an empty place there is nothing to give, and it would be asked for with each sample.
            wants &= (self._places[rows] >= 0).all(axis=1)
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
        return len(candidates) > 0

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


def _rivalling(lately: Numbers) -> Numbers:
    """More than this has to be used to take the place of who used so much *lately*."""
    return np.maximum(lately * RIVAL, lately + RIVAL_CORES)


@dataclass(frozen=True, slots=True, eq=False)
class _RowGroups:
    """The rows of samples that are in their order, each once."""

    rows: Rows
    starts: Rows
    """The first sample of each."""
    counts: Rows

    @classmethod
    def of(cls, rows: Rows) -> "_RowGroups":
        starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        return cls(rows[starts], starts, np.diff(starts, append=len(rows)))

    def each(self, found: npt.NDArray[A]) -> npt.NDArray[A]:
        """What was *found* of each row, for each of its samples."""
        return np.repeat(found, self.counts)
