"""How many minutes of the last seven days each pod and workload had each grade: two small rows for each."""

from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from nemutator_controller.neighbours.model import NeighbourRole, NeighbourWorkload
from nemutator_controller.neighbours.resources import GRADES

K = TypeVar("K", bound=Hashable)

DAYS = 7
DAY_S = 86_400
LEAST_TIMES = 60
"""Before which nobody can tell what is usual: an hour, where each minute has a look at all nodes."""

WORST = 0.99

DayCounts: TypeAlias = npt.NDArray[np.uint16]
"""How many times each grade was given, by day: today, yesterday, and so on."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedWeek:
    """As it survives a restart of the brain."""

    role: NeighbourRole
    subject: NeighbourWorkload | str
    """A workload, or the uid of a pod."""
    day: int
    """The newest of the seven, in days since the epoch."""
    counts: DayCounts


@dataclass(slots=True)
class WeekGrades(Generic[K]):
    """At most *most* of them; of the others nothing is usual."""

    most: int
    _rows: dict[K, int] = field(default_factory=dict, init=False)
    _free: list[int] = field(default_factory=list, init=False)
    _counts: npt.NDArray[np.uint16] = field(
        default_factory=lambda: np.zeros((0, DAYS, GRADES), dtype=np.uint16), init=False
    )
    _today: int = field(default=0, init=False)

    def add(self, looked_at: Iterable[K], grades: Mapping[K, int], *, now: float) -> int:
        """Count one look, in which those without one of *grades* had 0; how many found no room."""
        self._begin(int(now // DAY_S))
        unplaced, rows, values = 0, [], []
        for key in looked_at:
            row = self._rows.get(key)
            if row is None:
                if len(self._rows) >= self.most:
                    unplaced += 1
                    continue
                row = self._rows[key] = self._new_row()
            rows.append(row)
            values.append(grades.get(key, 0))
        if rows:
            day = self._today % DAYS
            found = self._counts[rows, day, values]
            self._counts[rows, day, values] = np.minimum(found, 65_534) + 1
        return unplaced

    def usual_and_worst(self, key: K) -> tuple[int, int] | None:
        """The median and the 99th percentile; None: it has not been looked at for long enough."""
        row = self._rows.get(key)
        if row is None:
            return None
        counts = self._counts[row].sum(axis=0, dtype=np.int64)
        times = int(counts.sum())
        if times < LEAST_TIMES:
            return None
        reached = np.cumsum(counts)
        return (
            int(np.searchsorted(reached, 0.5 * times)),
            int(np.searchsorted(reached, WORST * times)),
        )

    def bad_of(self, keys: Iterable[K]) -> set[K]:
        """Those that had a grade above 0 this week."""
        found = [(key, row) for key in keys if (row := self._rows.get(key)) is not None]
        if not found:
            return set()
        bad = self._counts[[row for _, row in found], :, 1:].any(axis=(1, 2))
        return {found[number][0] for number in np.flatnonzero(bad).tolist()}

    def worst(self, key: K) -> int:
        """The 99th percentile; 0 as well where it is not known yet."""
        row = self._rows.get(key)
        # Most were never bad, and are asked for all the time.
        if row is None or not self._counts[row, :, 1:].any():
            return 0
        found = self.usual_and_worst(key)
        return 0 if found is None else found[1]

    def times(self, key: K) -> int:
        row = self._rows.get(key)
        return 0 if row is None else int(self._counts[row].sum(dtype=np.int64))

    @property
    def today(self) -> int:
        """The newest day of which something is counted."""
        return self._today

    def bad(self, *, most: int) -> list[tuple[K, DayCounts]]:
        """Those that had a grade above 0 this week, up to *most*, the worst first."""
        days = (self._today - np.arange(DAYS)) % DAYS
        times = self._counts[:, :, 1:].sum(axis=(1, 2), dtype=np.int64)
        found = sorted(
            (-int(times[row]), row, key) for key, row in self._rows.items() if times[row]
        )
        return [(key, self._counts[row][days]) for _, row, key in found[:most]]

    def restore(self, several: Iterable[tuple[K, DayCounts]], *, until: int, now: float) -> None:
        """Go on from what was counted up to the day *until*; what is of days to come is of a clock that was wrong."""
        self._begin(int(now // DAY_S))
        passed = self._today - until
        if not 0 <= passed < DAYS:
            return
        days = (until - np.arange(DAYS - passed)) % DAYS
        for key, counts in several:
            if key not in self._rows and len(self._rows) < self.most:
                row = self._rows[key] = self._new_row()
                self._counts[row, days] = counts[: DAYS - passed]

    def keep(self, keys: Container[K]) -> None:
        """Forget all others."""
        self.forget([key for key in self._rows if key not in keys])

    def forget(self, keys: Iterable[K]) -> None:
        for key in keys:
            row = self._rows.pop(key, None)
            if row is not None:
                self._counts[row] = 0
                self._free.append(row)

    def __len__(self) -> int:
        return len(self._rows)

    def _begin(self, day: int) -> None:
        """Days that have passed make room; a clock that goes back begins none."""
        if self._today == 0:
            self._today = day
        passed = min(day - self._today, DAYS)
        if passed > 0:
            self._counts[:, (day - np.arange(passed)) % DAYS] = 0
            self._today = day
            # What was read back of pods that are gone would stay for ever.
            times = self._counts.sum(axis=(1, 2), dtype=np.int64)
            self.forget([key for key, row in self._rows.items() if not times[row]])

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        used = len(self._rows)
        if used >= len(self._counts):
            more = np.zeros((64 + used + used // 4, DAYS, GRADES), dtype=np.uint16)
            more[: len(self._counts)] = self._counts
            self._counts = more
        return used
