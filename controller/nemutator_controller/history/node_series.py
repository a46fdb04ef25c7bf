"""The series of one node: which rows they belong to, and which of their points can be believed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.minutes import MINUTE_S, RowNumbers
from nemutator_controller.history.rows import NO_ROOM, NOBODY
from nemutator_controller.ingest.usage_codes import LARGEST, Numbers
from nemutator_controller.ingest.usage_points import Series, UsagePoints

UNASKED = -3
"""In the place of a row's number: it has not been asked for."""

ASKED_AGAIN_S = 60.0
"""What nobody owned, or had no room, is looked up again after so long."""

OVERLAP_S = 0.5
"""By how much a point may begin before the last one of its series ended: clocks are adjusted."""


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
    points: UsagePoints, known: NodeSeries, *, floor_s: float, latest_s: float
) -> SoundPoints:
    """Those of *points* that can be added; of each other one the first reason counts."""
    of, begin, end = points.of, points.from_at, points.to_at
    rows = known.rows[of]
    columns = {
        one.name: points.columns[one.name]
        for one in FIGURES
        if one.name in points.columns and not _is_unknown(points.columns[one.name])
    }
    dropped: dict[str, int] = {}
    if rows.min() < 0:
        # In a cluster half of all: a pod's own group is the sum of its containers, and is nobody's.
        for reason, number in (("unknown_owner", NOBODY), ("no_room", NO_ROOM)):
            if count := int((rows == number).sum()):
                dropped[reason] = count
        owned = rows >= 0
        rows, of, begin, end = rows[owned], of[owned], begin[owned], end[owned]
        columns = {name: values[owned] for name, values in columns.items()}
    if not len(rows) or _all_sound(of, begin, end, columns, known, floor_s, latest_s):
        np.maximum.at(known.last_end, of, end)
        return SoundPoints(rows, begin, end, columns, dropped)
    # Whatever numbers strangers send, infinities among them.
    with np.errstate(invalid="ignore", over="ignore"):
        lasted = end - begin
    absurd = ~((lasted > 0) & (lasted <= MINUTE_S) & (begin > 0))
    for values in columns.values():
        absurd |= (values < 0) | (values > LARGEST)
    good = np.ones(len(of), dtype=np.bool_)

    def drop(reason: str, wrong: npt.NDArray[np.bool_]) -> None:
        if count := int((wrong & good).sum()):
            dropped[reason] = dropped.get(reason, 0) + count
        good[wrong] = False

    drop("absurd", absurd)
    drop("future", end > latest_s)
    drop("late", begin < floor_s)
    drop("again", begin < known.last_end[of] - OVERLAP_S)
    drop("again", _again(of, begin, end, good))
    np.maximum.at(known.last_end, of[good], end[good])
    chosen = {name: values[good] for name, values in columns.items()}
    return SoundPoints(rows[good], begin[good], end[good], chosen, dropped)


def _all_sound(
    of: npt.NDArray[np.int32],
    begin: Numbers,
    end: Numbers,
    columns: Mapping[str, Numbers],
    known: NodeSeries,
    floor_s: float,
    latest_s: float,
) -> bool:
    """Whether nothing is wrong with any point, which costs less to say than what is wrong with which."""
    if not (begin.min() >= max(floor_s, 1.0) and end.max() <= latest_s):
        return False
    lasted = end - begin
    if not (lasted.min() > 0 and lasted.max() <= MINUTE_S):
        return False
    if not all(_believable(values) for values in columns.values()):
        return False
    # Of 16 bits, numpy sorts by radix: an eighth of the time.
    order = np.argsort(of.astype(np.uint16), kind="stable")
    series, begins, ends = of[order], begin[order], end[order]
    before = np.empty_like(ends)
    before[0], before[1:] = 0.0, ends[:-1]
    before[1:][series[1:] != series[:-1]] = 0.0
    return bool((begins >= np.maximum(before, known.last_end[series]) - OVERLAP_S).all())


def _again(
    of: npt.NDArray[np.int32], begin: Numbers, end: Numbers, good: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Which of the *good* points begin before another one of the same series ended."""
    again = np.zeros(len(of), dtype=np.bool_)
    last_end: dict[int, float] = {}
    for place in np.lexsort((begin, of)).tolist():
        if not good[place]:
            continue
        series = int(of[place])
        if begin[place] < last_end.get(series, 0.0) - OVERLAP_S:
            again[place] = True
        else:
            last_end[series] = end[place]
    return again


def _is_unknown(values: Numbers) -> bool:
    """Whether nothing in it is known, as of a figure that the machine does not count."""
    return bool(np.isnan(values[0]) and np.isnan(values).all())


def _believable(values: Numbers) -> bool:
    if values.min() >= 0 and values.max() <= LARGEST:
        return True
    # Either something is wrong, or NaN is there, which is not known and nothing wrong.
    known = values[~np.isnan(values)]
    return bool((known >= 0).all() and (known <= LARGEST).all())
