"""The series of a node: which rows they belong to, and which of the points of several nodes can be believed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import MINUTE_S, RowNumbers
from nemutator_controller.history.rows import NO_ROOM, NOBODY
from nemutator_controller.ingest.points_together import PointsTogether
from nemutator_controller.ingest.usage_codes import LARGEST, Numbers
from nemutator_controller.ingest.usage_points import Series

UNASKED = -3
"""In the place of a row's number: it has not been asked for."""

ASKED_AGAIN_S = 60.0
"""What nobody owned, or had no room, is looked up again after so long."""

OVERLAP_S = 0.5
"""By how much a point may begin before the last one of its series ended: clocks are adjusted."""


SeriesNumbers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class NodeSeries:
    series: Sequence[Series]
    rows: RowNumbers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    last_end: Numbers = field(default_factory=lambda: np.zeros(0))
    """When the last point of each series ended."""
    changes: int = -1
    """Of the rows, when they were looked up last."""
    asked_at: float = 0.0
    heard_at: float = 0.0

    def unknown(self, changes: int, *, now: float) -> Sequence[int]:
        """The series whose rows have to be looked up."""
        self.heard_at = now
        have = len(self.rows)
        if len(self.series) > have:
            more = len(self.series) - have
            self.rows = np.concatenate([self.rows, np.full(more, UNASKED, dtype=np.intp)])
            self.last_end = np.concatenate([self.last_end, np.zeros(more)])
        if self.changes != changes:
            # Some row belongs to somebody else by now.
            self.changes, self.asked_at = changes, now
            return range(len(self.series))
        if not 0 <= now - self.asked_at < ASKED_AGAIN_S:
            self.asked_at = now
            return [int(number) for number in np.flatnonzero(self.rows < 0)]
        return range(have, len(self.series))


@dataclass(frozen=True, slots=True, eq=False)
class SoundPoints:
    """Parallel arrays of the points that can be added."""

    rows: RowNumbers
    begin: Numbers
    end: Numbers
    columns: dict[str, Numbers]
    dropped: dict[str, int]
    """The others, by reason."""

    def __len__(self) -> int:
        return len(self.rows)


def together(several: Sequence[SoundPoints]) -> SoundPoints:
    """*several* one after another; what one does not know of a figure is not known."""
    if len(several) == 1:
        return several[0]
    named = {name: None for one in several for name in one.columns}
    return SoundPoints(
        np.concatenate([one.rows for one in several]),
        np.concatenate([one.begin for one in several]),
        np.concatenate([one.end for one in several]),
        {
            name: np.concatenate(
                [
                    one.columns[name] if name in one.columns else np.full(len(one), np.nan)
                    for one in several
                ]
            )
            for name in named
        },
        {},
    )


def sound_points(
    part: PointsTogether, nodes: Sequence[NodeSeries], *, floor_s: float, latest_s: float
) -> SoundPoints:
    """Those of *part*, which its *nodes* have reported, that can be added; of each other one the first reason counts."""
    series, begin, end = part.series, part.from_at, part.to_at
    rows = part.by_series([one.rows for one in nodes])[series]
    columns = {one.name: values for one in FIGURES if (values := part.known(one.name)) is not None}
    dropped: dict[str, int] = {}
    if rows.min() < 0:
        # In a cluster half of all: a pod's own group is the sum of its containers, and is nobody's.
        for reason, number in (("unknown_owner", NOBODY), ("no_room", NO_ROOM)):
            if count := int((rows == number).sum()):
                dropped[reason] = count
        owned = rows >= 0
        rows, series, begin, end = rows[owned], series[owned], begin[owned], end[owned]
        columns = {name: values[owned] for name, values in columns.items()}
        if not len(rows):
            return SoundPoints(rows, begin, end, columns, dropped)
    last_end = np.copy(part.by_series([one.last_end for one in nodes]))
    points = _OwnedPoints(series, begin, end, columns, last_end, floor_s, latest_s)
    wrong = points.wrong()
    if wrong is not None:
        # Where nothing of a node is wrong all of it is taken.
        node = np.searchsorted(part.ends, series, side="right")
        suspected = np.bincount(node[wrong], minlength=len(nodes))[node] > 0
        good = points.good(suspected, dropped)
        rows, series, begin, end = rows[good], series[good], begin[good], end[good]
        columns = {name: values[good] for name, values in columns.items()}
    np.maximum.at(last_end, series, end)
    for one, ended in zip(nodes, part.apart(last_end), strict=True):
        one.last_end[: len(ended)] = ended
    return SoundPoints(rows, begin, end, columns, dropped)


@dataclass(frozen=True, slots=True, eq=False)
class _OwnedPoints:
    """Points that belong to somebody, and what they are held against."""

    series: SeriesNumbers
    begin: Numbers
    end: Numbers
    columns: Mapping[str, Numbers]
    last_end: Numbers
    """Of each series, before these."""
    floor_s: float
    latest_s: float

    def wrong(self) -> Flags | None:
        """Which points there is something wrong with; None where that is none, which costs less to say."""
        series, begin, end = self.series, self.begin, self.end
        # Of 16 bits, numpy sorts by radix: an eighth of the time.
        narrow = len(self.last_end) <= 1 << 16
        order = np.argsort(series.astype(np.uint16) if narrow else series, kind="stable")
        named, begins, ends = series[order], begin[order], end[order]
        before = np.empty_like(ends)
        before[0], before[1:] = 0.0, ends[:-1]
        before[1:][named[1:] != named[:-1]] = 0.0
        in_order = begins >= np.maximum(before, self.last_end[named]) - OVERLAP_S
        # Whatever numbers strangers send, infinities among them.
        with np.errstate(invalid="ignore", over="ignore"):
            lasted = end - begin
        least = max(self.floor_s, 1.0)
        believed = [
            values.min() >= 0 and values.max() <= LARGEST for values in self.columns.values()
        ]
        in_time = begin.min() >= least and end.max() <= self.latest_s
        short = lasted.min() > 0 and lasted.max() <= MINUTE_S
        if in_time and short and all(believed) and in_order.all():
            return None
        good = (begin >= least) & (end <= self.latest_s) & (lasted > 0) & (lasted <= MINUTE_S)
        for values, is_believed in zip(self.columns.values(), believed, strict=True):
            if not is_believed:
                # Either something is wrong, or NaN is there, which is not known and nothing wrong.
                good &= ~((values < 0) | (values > LARGEST))
        good[order] &= in_order
        return None if good.all() else ~good

    def good(self, suspected: Flags, dropped: dict[str, int]) -> Flags:
        """Which points can be added: all that are not *suspected*, and of the others those that no reason is found against, which else
        is counted in *dropped*."""
        series, begin, end = self.series, self.begin, self.end
        with np.errstate(invalid="ignore", over="ignore"):
            lasted = end - begin
        absurd = ~((lasted > 0) & (lasted <= MINUTE_S) & (begin > 0))
        for values in self.columns.values():
            absurd |= (values < 0) | (values > LARGEST)
        good = np.ones(len(series), dtype=np.bool_)

        def drop(reason: str, wrong: Flags) -> None:
            wrong = wrong & good & suspected
            if count := int(np.count_nonzero(wrong)):
                dropped[reason] = dropped.get(reason, 0) + count
                good[wrong] = False

        drop("absurd", absurd)
        drop("future", end > self.latest_s)
        drop("late", begin < self.floor_s)
        drop("again", begin < self.last_end[series] - OVERLAP_S)
        drop("again", _again(series, begin, end, good & suspected))
        return good


def _again(series: SeriesNumbers, begin: Numbers, end: Numbers, good: Flags) -> Flags:
    """Which of the *good* points begin before another one of the same series ended."""
    again = np.zeros(len(series), dtype=np.bool_)
    order = np.flatnonzero(good)
    order = order[np.lexsort((begin[order], series[order]))]
    named, ends = series[order], end[order]
    overlap = (named[1:] == named[:-1]) & (begin[order][1:] < ends[:-1] - OVERLAP_S)
    if not overlap.any():
        return again
    last_end: dict[int, float] = {}
    for place in order[np.isin(named, named[1:][overlap])].tolist():
        of = int(series[place])
        if begin[place] < last_end.get(of, 0.0) - OVERLAP_S:
            again[place] = True
        else:
            last_end[of] = end[place]
    return again
