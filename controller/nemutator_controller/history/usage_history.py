"""What containers used, in a bounded number of rows: minutes, then cells of five minutes, then usual weeks.

Reports are added to minutes for as long as those may still change. What is half an hour old is settled: five
minutes become a cell of the day, and sixty of them a part of what their hour of the week is usually like.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.history import days, minutes, weeks
from nemutator_controller.history.cells import MEASURES, RowCells
from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import MINUTE_S
from nemutator_controller.history.node_series import (
    NodeSeries,
    SoundPoints,
    sound_points,
    together,
)
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.rows import NO_ROOM, NOBODY, Rows
from nemutator_controller.history.slices import Level
from nemutator_controller.ingest.points_together import PointsTogether, parts_of
from nemutator_controller.ingest.usage_codes import Numbers
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints

LATE_S = 1800
"""What comes later than this is not added: its minute is settled."""

FUTURE_S = 300.0
"""How far an agent's clock may run ahead, as for its reports."""

FORGOTTEN_S = 28 * 86_400.0
"""A row of which nothing was heard for so long is dropped, as a usual week would be."""

AT_ONCE = 500
"""Rows that are settled between two turns of the loop."""

_DAY = days.MINUTES
_NONE = -1
_PASSES = 3
"""How often the rows of a report are looked up, while rows that make room for others are among them."""

OwnerOf = Callable[[str, Series], RowKey | None]
"""Whose use that of a series on a node was; None: that is not known (yet)."""


@dataclass(frozen=True, slots=True)
class Folded:
    """What became of points and rows in one call."""

    added: int
    dropped: dict[str, int]
    """Points, by reason."""
    evicted: int
    """Rows that made room."""


class UsageHistory:
    """At most *most* rows. The one that was not reported for longest makes room, after an hour."""

    def __init__(self, owner_of: OwnerOf, *, most: int) -> None:
        self._owner_of = owner_of
        self.rows = Rows(most=most)
        self.figures = frozenset(one.name for one in FIGURES)
        self.minutes = minutes.Minutes(FIGURES, rows=most)
        self.days = days.Days(FIGURES, rows=most)
        self.weeks = weeks.Weeks(FIGURES, rows=most)
        self.newest = _NONE
        """The last minute of which anything is known, in minutes since the epoch."""
        self.settled_to = _NONE
        """All minutes before are settled; a multiple of five."""
        self._nodes: dict[str, NodeSeries] = {}
        self.learned_at = 0.0
        """When this brain learned something last. Of what others learn it knows what they have saved."""
        self.changed: set[tuple[Level, int]] = set()
        """Levels and numbers of cells that were written and not saved since."""
        self._changed_minutes: npt.NDArray[np.bool_] = np.zeros(minutes.CELLS, dtype=np.bool_)

    def learn(self, node: str, points: UsagePoints, *, now: float) -> Folded:
        """Add what *node* has reported."""
        return self.learn_all([NodePoints(node, points)], now=now)

    def learn_all(self, reported: Sequence[NodePoints], *, now: float) -> Folded:
        """Add what several nodes have reported."""
        parts = parts_of(reported)
        if not parts:
            return Folded(0, {}, 0)
        self.learned_at = now
        if self.newest * MINUTE_S > now + FUTURE_S + MINUTE_S:
            self._step_back(now)
        floor = max(self.settled_to, int(now // MINUTE_S) + 6 - minutes.CELLS)
        evicted, dropped = 0, dict[str, int]()
        sound: list[SoundPoints] = []
        for part in itertools.chain.from_iterable(map(self._fitting, parts)):
            nodes = [self._node(one) for one in part.reported]
            for one, known in zip(part.reported, nodes, strict=True):
                evicted += self._find_rows(one.node, known, now=now)
            found = sound_points(part, nodes, floor_s=floor * MINUTE_S, latest_s=now + FUTURE_S)
            for reason, count in found.dropped.items():
                dropped[reason] = dropped.get(reason, 0) + count
            if len(found):
                sound.append(found)
                # At once, so that no later node's row takes the place of one of these.
                self.rows.heard_at[found.rows] = now
        if sound:
            self._add(together(sound))
        return Folded(sum(map(len, sound)), dropped, evicted)

    def _fitting(self, part: PointsTogether) -> Sequence[PointsTogether]:
        """*part*, or each node by itself where the rows of one might take the place of another's."""
        if self.rows.room >= part.ends[-1]:
            return (part,)
        return [PointsTogether([one]) for one in part.reported]

    def _node(self, one: NodePoints) -> NodeSeries:
        known = self._nodes.get(one.node)
        if known is None or known.series is not one.points.series:
            known = self._nodes[one.node] = NodeSeries(one.points.series)
        return known

    def empty(self) -> "UsageHistory":
        """One that knows nothing."""
        return UsageHistory(self._owner_of, most=self.rows.most)

    def become(self, other: "UsageHistory") -> None:
        """Know what *other* knows, in its place; *other* is not used any more."""
        vars(self).update(vars(other))

    def settle(self, *, now: float) -> Iterator[None]:
        """Settle what is old enough, a few rows at a time."""
        if self.newest == _NONE:
            return
        due = int((now - LATE_S) // days.FIVE_S) * _DAY
        while self.settled_to < due:
            if self.settled_to > self.newest:
                # Nothing was reported since.
                self._skip_to(due)
                return
            cell = self.settled_to // _DAY
            self.settled_to += _DAY
            yield from self._settle_five(cell)
            if self.settled_to % 60 == 0:
                yield from self._settle_hour(self.settled_to // 60 - 1)

    def forget(self, *, silent_since: float) -> int:
        """Drop the rows that were not reported since then; how many those were."""
        silent = self.rows.silent(since=silent_since)
        for number in silent:
            self.rows.drop(number)
            self.clear_row(number)
        self._nodes = {
            node: known for node, known in self._nodes.items() if known.heard_at >= silent_since
        }
        return len(silent)

    def known_keys(self) -> list[RowKey]:
        return sorted(
            self.rows.numbers,
            key=lambda key: (key.namespace, key.owner_kind, key.owner, key.container),
        )

    def heard_at(self, key: RowKey) -> float:
        """When it was reported last, by the brain's clock; raises `KeyError`."""
        return float(self.rows.heard_at[self.rows.numbers[key]])

    def cells(self, key: RowKey, *, begin: float, end: float) -> RowCells:
        """What is kept of *key* from *begin* to *end*: minutes where they are kept, cells of five before.

        Raises `KeyError` when there is no such row.
        """
        row = np.array([self.rows.numbers[key]])
        # Minutes begin where a cell of five minutes does, so that none counts twice.
        seam = -(-(self.newest + 1 - minutes.CELLS) // _DAY) * _DAY
        first_cell = max(int(begin // days.FIVE_S), self.settled_to // _DAY - days.CELLS)
        old = np.arange(first_cell, max(first_cell, min(seam // _DAY, int(-(-end // days.FIVE_S)))))
        first_minute = max(seam, int(begin // MINUTE_S))
        last_minute = min(self.newest + 1, int(-(-end // MINUTE_S)))
        new = np.arange(first_minute, max(first_minute, last_minute))
        coarse, fine = self.days.view(row, old), self.minutes.view(row, new)
        figures: dict[str, dict[str, Numbers]] = {}
        for one in FIGURES:
            if one.name not in fine.mean and one.name not in coarse.figures:
                continue
            unknown = {name: np.full((1, len(old)), np.nan) for name in MEASURES}
            before = coarse.figures.get(one.name, unknown)
            nothing = np.full((1, len(new)), np.nan)
            mean = fine.mean.get(one.name, nothing)
            after = {
                "mean": mean,
                "low": mean,
                "high": mean,
                "most": fine.most.get(one.name, nothing),
            }
            figures[one.name] = {
                name: np.concatenate([before[name][0], after[name][0]]) for name in MEASURES
            }
        known_before = np.where(np.isnan(coarse.pods[0]), 0.0, float(days.FIVE_S))
        pods = np.where(fine.seconds[0] > 0, fine.pods[0], np.nan)
        return RowCells(
            at=np.concatenate([old * days.FIVE_S, new * MINUTE_S]),
            seconds=np.concatenate([known_before, fine.seconds[0]]),
            pods=np.concatenate([coarse.pods[0], pods]),
            figures=figures,
        )

    def usual_week(self, key: RowKey) -> weeks.WeekView:
        """Raises `KeyError` when there is no such row."""
        return self.weeks.view(self.rows.numbers[key])

    def take_changed(self) -> set[tuple[Level, int]]:
        """Levels and numbers of cells that changed since they were taken last."""
        first = self.newest + 1 - minutes.CELLS
        for cell in np.flatnonzero(self._changed_minutes):
            self.changed.add(("minutes", first + (int(cell) - first) % minutes.CELLS))
        self._changed_minutes[:] = False
        taken, self.changed = self.changed, set()
        return taken

    def clear_row(self, number: int) -> None:
        self.minutes.clear_row(number)
        self.days.clear_row(number)
        self.weeks.clear_row(number)

    def _find_rows(self, node: str, known: NodeSeries, *, now: float) -> int:
        evicted = 0
        for _ in range(_PASSES):
            for number in known.unknown(self.rows.changes, now=now):
                row, made_room = self._row_of(self._owner_of(node, known.series[number]), now=now)
                known.rows[number] = row
                evicted += made_room
            if known.changes == self.rows.changes:
                return evicted
        # Its own series push each other out.
        known.rows[:] = NO_ROOM
        return evicted

    def _row_of(self, key: RowKey | None, *, now: float) -> tuple[int, bool]:
        if key is None:
            return NOBODY, False
        row = self.rows.numbers.get(key)
        if row is not None:
            return row, False
        used = self.rows.used
        row, made_room = self.rows.begin(key, now=now)
        if 0 <= row < used:
            # It may have been another's. Of one that was nobody's all is empty, and takes no memory before something is written.
            self.clear_row(row)
        return row, made_room

    def _add(self, sound: SoundPoints) -> None:
        minute = (sound.begin / MINUTE_S).astype(np.int64)
        origin = minute * MINUTE_S
        rows, begin, end, columns = (
            sound.rows,
            sound.begin - origin,
            sound.end - origin,
            sound.columns,
        )
        crossing = np.flatnonzero(end > MINUTE_S + 1e-6)
        self._reach(int(minute.max()) + (len(crossing) > 0))
        if len(crossing):
            # A quarter of a minute that lies in two minutes belongs to both, in parts.
            rest_end = end[crossing] - MINUTE_S
            end = np.concatenate([np.minimum(end, MINUTE_S), rest_end])
            begin = np.concatenate([begin, np.zeros(len(crossing))])
            rows = np.concatenate([rows, rows[crossing]])
            minute = np.concatenate([minute, minute[crossing] + 1])
            columns = {
                name: np.concatenate([values, values[crossing]]) for name, values in columns.items()
            }
        cells = minute % minutes.CELLS
        self._changed_minutes[cells] = True
        self.minutes.add(rows, cells, begin, end, columns)

    def _reach(self, minute: int) -> None:
        """Make room in the ring of minutes up to *minute*."""
        if self.newest == _NONE:
            self.newest = minute - 1
            self.settled_to = (minute * MINUTE_S - LATE_S) // days.FIVE_S * _DAY
        if minute <= self.newest:
            return
        oldest = minute + 1 - minutes.CELLS
        if self.settled_to < oldest:
            # The task that settles is late, or this brain was away.
            for _ in self.settle(now=float(oldest * MINUTE_S + LATE_S + days.FIVE_S)):
                pass
        begin = max(self.newest + 1, oldest)
        self.minutes.clear(np.arange(begin, minute + 1) % minutes.CELLS, used=self.rows.used)
        self.newest = minute

    def _settle_five(self, cell: int) -> Iterator[None]:
        self.days.clear(np.array([cell % days.CELLS]), used=self.rows.used)
        which = self._kept(cell * _DAY, cell * _DAY + _DAY)
        for begin in range(0, self.rows.used, AT_ONCE):
            some = slice(begin, min(begin + AT_ONCE, self.rows.used))
            self.days.put(some, cell, self.minutes.view(some, which))
            yield
        self.changed.add(("days", cell))

    def _settle_hour(self, hour: int) -> Iterator[None]:
        if not self.weeks.begin(hour, used=self.rows.used):
            return
        which = self._kept(hour * 60, hour * 60 + 60)
        for begin in range(0, self.rows.used, AT_ONCE):
            some = slice(begin, min(begin + AT_ONCE, self.rows.used))
            self.weeks.fold(some, hour, self.minutes.view(some, which, weekly=True).mean)
            yield
        self.changed.add(("weeks", weeks.slot_of(hour)))

    def _kept(self, begin: int, end: int) -> minutes.Moments:
        """The minutes from *begin* to *end* that are in the ring: after a pause some are not."""
        return np.arange(max(begin, self.newest + 1 - minutes.CELLS), min(end, self.newest + 1))

    def _skip_to(self, minute: int) -> None:
        cells = np.arange(self.settled_to // _DAY, minute // _DAY)[-days.CELLS :]
        self.days.clear(cells % days.CELLS, used=self.rows.used)
        self.settled_to = minute

    def _step_back(self, now: float) -> None:
        """The clock was ahead and is set back: what was noted of times to come is forgotten."""
        minute = int(now // MINUTE_S)
        ahead = np.arange(max(minute + 1, self.newest + 1 - minutes.CELLS), self.newest + 1)
        self.minutes.clear(ahead % minutes.CELLS, used=self.rows.used)
        settled = (minute * MINUTE_S - LATE_S) // days.FIVE_S * _DAY
        if settled < self.settled_to:
            cells = np.arange(settled // _DAY, self.settled_to // _DAY)[-days.CELLS :]
            self.days.clear(cells % days.CELLS, used=self.rows.used)
            self.settled_to = settled
        self.newest = minute
        self.weeks.step_back(int(now // weeks.HOUR_S))
        for known in self._nodes.values():
            known.last_end[:] = np.minimum(known.last_end, now)
        np.minimum(
            self.rows.heard_at,
            np.where(np.isinf(self.rows.heard_at), np.inf, now),
            out=self.rows.heard_at,
        )
