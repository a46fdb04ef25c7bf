"""The last hour of one node, minute by minute: what each container took, and what it waited for.

A minute is one of the brain's clock. What an agent with another clock reports of minutes that are not among the
last sixty is left out and counted, so that a clock that jumps spoils nothing that is there.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.points_together import PointsTogether
from nemutator_controller.ingest.series_tables import SeriesTable
from nemutator_controller.ingest.usage_codes import UNKNOWN, CoarseScale, FineScale, ShareScale
from nemutator_controller.ingest.usage_points import Numbers, Series, UsagePoints
from nemutator_controller.neighbours.point_figures import values_of

MINUTE_S = 60.0
MINUTES = 60

MOST_ROWS = 512
"""Containers of one node; kubelet runs 110 pods on one by default."""


@dataclass(frozen=True, slots=True)
class _Figure:
    name: str
    scale: FineScale | CoarseScale | ShareScale
    dtype: type[np.unsignedinteger]


# What aggressors of CPU and network take is compared with what others suffer minute by minute, and with itself, so
# those have the fine scale. A node keeps 10 bytes for each container and minute, 11 where turns are timed: with 150 000 pods that
# counts.
_FIGURES = (
    _Figure("cpu", FineScale(), np.uint16),
    _Figure("memory", CoarseScale(1e-3), np.uint8),
    _Figure("disk", CoarseScale(1e-3), np.uint8),
    _Figure("network", FineScale(), np.uint16),
    _Figure("cpu_waiting", ShareScale(), np.uint8),
    _Figure("memory_waiting", ShareScale(), np.uint8),
    _Figure("disk_waiting", ShareScale(), np.uint8),
    _Figure("turn_waiting", CoarseScale(1e-6), np.uint8),
)
FIGURES = tuple(one.name for one in _FIGURES)
"""Cores, GiB, and MB per second twice; then shares of the time from 0 to 1; seconds of the longest turns."""

ROWS_AT_ONCE = 8
LARGEST = 65_000.0
"""What is more than this is not believed."""

_NO_ROW, _NO_ROOM, _UNASKED = -1, -2, -3
"""It is no container; there are too many; it has not been asked for, or not since rows were given back."""

Key = tuple[str, str]
"""The pod's uid and the container's id; off clusters the path of the group, and nothing."""

Matrix = npt.NDArray[np.unsignedinteger[Any]]

Places = npt.NDArray[np.intp]
"""Numbers of a row and a minute: the row's times `MINUTES`, and the minute's."""

Codes = Sequence[npt.NDArray[np.unsignedinteger[Any]]]
"""Of each figure, by row and minute, in the codes of its scale."""

Values = npt.NDArray[np.float32]
"""By figure, row and minute, with the last minute at the end; NaN for what is not known."""


def decoded(codes: Codes) -> Values:
    found = np.empty((len(_FIGURES), *codes[0].shape), dtype=np.float32)
    for into, one, of in zip(found, _FIGURES, codes, strict=True):
        into[...] = one.scale.singles[of]
    return found


def least_code(figure: int, value: float) -> int:
    """The first code of *figure* that stands for at least *value*."""
    reaching = np.flatnonzero(_FIGURES[figure].scale.singles >= value)
    return int(reaching[0]) if len(reaching) else len(_FIGURES[figure].scale.singles)


class NodeWindow:
    def __init__(self, minute_s: float = MINUTE_S) -> None:
        self.minute_s = minute_s
        self._hashes = np.empty(0, dtype=np.uint64)
        """By row, of whose it is; 0: nobody's. The keys themselves would take more memory than most of what is here; they are
        read from the series, where they are packed."""
        self._series: Sequence[Series] = ()
        self._of_series = np.empty(0, dtype=np.int32)
        """The row of each series, or `_UNASKED`, `_NO_ROW`, `_NO_ROOM`."""
        self._means: list[Matrix | None] = [None] * len(_FIGURES)
        """Of each figure, by row and minute, in the codes of its scale. None: nothing was reported of it yet, as where the
        kernel measures no waiting."""
        self._counts = np.empty((0, MINUTES), dtype=np.uint8)
        """Points that were reported, by row and minute."""
        self.newest = 0
        """The last minute that there is room for, by its number since the epoch."""

    def points_at(self, places: Places) -> npt.NDArray[np.uint8]:
        """How many points were reported at each of *places*, by row and minute."""
        found: npt.NDArray[np.uint8] = self._counts.reshape(-1)[places]
        return found

    def count(self, places: Places, points: Numbers) -> None:
        """So many *points* were reported at *places*."""
        self._counts.reshape(-1)[places] = points

    def codes_at(self, figure: int, places: Places) -> Matrix:
        """The means that are kept there."""
        codes = self._means[figure]
        if codes is None:
            return np.full(len(places), UNKNOWN, dtype=_FIGURES[figure].dtype)
        found: Matrix = codes.reshape(-1)[places]
        return found

    def keep(self, figure: int, places: Places, codes: Matrix) -> None:
        kept = self._means[figure]
        if kept is None:
            shape = len(self._hashes), MINUTES
            kept = self._means[figure] = np.full(shape, UNKNOWN, dtype=_FIGURES[figure].dtype)
        kept.reshape(-1)[places] = codes

    def copied(self, *, now: float) -> tuple[list[Key], Codes]:
        """The keys of its rows, and what is known of them, for `decoded`, which may be called in a thread. The minute that goes on
        is left out: its mean would still change."""
        self.advance(now)
        named = np.full(len(self._hashes), -1)
        with_row = np.flatnonzero(self._of_series >= 0)
        named[self._of_series[with_row]] = with_row
        # Those that ended before their agent was started again have no name any more.
        used = np.flatnonzero((self._hashes != 0) & (named >= 0))
        used = used[np.argsort(named[used])]
        first = (self.newest + 1) % MINUTES
        codes = [
            # Of zeros: nothing is known.
            np.zeros((len(used), MINUTES - 1), dtype=one.dtype)
            if codes is None
            else np.concatenate((codes[used, first:], codes[used, : max(first - 1, 0)]), axis=1)[
                :, : MINUTES - 1
            ]
            for one, codes in zip(_FIGURES, self._means, strict=True)
        ]
        return self._keys_of(named[used].tolist()), codes

    def forget_ended(self) -> None:
        """Let others have the rows of which nothing is known any more."""
        silent = (self._hashes != 0) & (self._counts == 0).all(axis=1)
        if silent.any():
            self._hashes[silent] = 0
            of = self._of_series
            of[(of == _NO_ROOM) | (of >= 0) & silent[of]] = _UNASKED

    def __len__(self) -> int:
        return int(np.count_nonzero(self._hashes))

    def _keys_of(self, numbers: Sequence[int]) -> list[Key]:
        found = [key_of(self._series[number]) or ("", "") for number in numbers]
        if isinstance(self._series, SeriesTable):
            self._series.close()
        return found

    def advance(self, now: float) -> None:
        """Make room for the minute of *now*."""
        minute = int(now // self.minute_s)
        if minute <= self.newest:
            return
        ahead = min(minute - self.newest, MINUTES)
        self._forget((slice(None), (minute - np.arange(ahead)) % MINUTES))
        self.newest = minute

    def _forget(self, which: tuple[Any, ...]) -> None:
        self._counts[which] = 0
        for codes in self._means:
            if codes is not None:
                codes[which] = UNKNOWN

    def rows_of(self, points: UsagePoints) -> npt.NDArray[np.int32]:
        """The row of each series, as far as it is known."""
        if self._series is not points.series:
            self._series, self._of_series = points.series, np.empty(0, dtype=np.int32)
        if more := len(points.series) - len(self._of_series):
            asked = np.full(more, _UNASKED, dtype=np.int32)
            self._of_series = np.concatenate((self._of_series, asked))
        return self._of_series

    def ask(self, points: UsagePoints) -> None:
        """Find the rows of the series of *points* that were not asked for."""
        without = self._of_series[points.of] == _UNASKED
        if without.any():
            unasked = np.unique(points.of[without])
            several = [points.series[number] for number in unasked.tolist()]
            holders: set[str] = set()
            if any(one.pod_uid is None for one in several):
                holders = {one.path.rpartition("/")[0] or "/" for one in points.series}
            self._of_series[unasked] = self._rows_for(
                # What a group outside of pods took that holds others is what those took: it is nobody's neighbour.
                [
                    None if one.pod_uid is None and one.path in holders else key_of(one)
                    for one in several
                ]
            )

    def _rows_for(self, keys: Sequence[Key | None]) -> list[int]:
        """The row of each of *keys*, one that is free for those that have none."""
        there = self._hashes.tolist()
        rows = {hashed: row for row, hashed in enumerate(there) if hashed}
        vacant = (row for row, hashed in enumerate(there) if not hashed)
        free = itertools.chain(vacant, itertools.count(len(there)))
        found, begun = [], dict[int, int]()
        for key in keys:
            if key is None:
                found.append(_NO_ROW)
                continue
            # Of 512 keys two are alike once in 10^14 nodes.
            hashed = hash(key) % (1 << 64) or 1
            row = rows.get(hashed, _NO_ROOM)
            if row == _NO_ROOM and len(rows) < MOST_ROWS:
                row = rows[hashed] = begun[hashed] = next(free)
            found.append(row)
        if begun:
            self._begin(begun)
        return found

    def _begin(self, begun: Mapping[int, int]) -> None:
        """*begun*: rows by their hashes."""
        rows = np.fromiter(begun.values(), dtype=np.intp, count=len(begun))
        if (needed := int(rows.max()) + 1) > len(self._hashes):
            self._grow(-(-needed // ROWS_AT_ONCE) * ROWS_AT_ONCE)
        self._forget((rows,))
        self._hashes[rows] = np.fromiter(begun, dtype=np.uint64, count=len(begun))

    def _grow(self, rows: int) -> None:
        rows = min(rows, MOST_ROWS)
        self._hashes = np.pad(self._hashes, (0, rows - len(self._hashes)))
        self._means = [None if codes is None else _grown(codes, rows) for codes in self._means]
        self._counts = _grown(self._counts, rows)


def _grown(there: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    more = np.zeros((rows, MINUTES), dtype=there.dtype)
    more[: len(there)] = there
    return more


def key_of(series: Series) -> Key | None:
    if series.pod_uid is not None:
        # A pod's own group has the sum of its containers.
        return None if series.container_id is None else (series.pod_uid, series.container_id)
    return None if series.program is not None else (series.path, "")


def add_together(
    windows: Sequence[NodeWindow], part: PointsTogether, *, now: float
) -> Mapping[str, int]:
    """Take *part* into the *windows* of its nodes; how many points were left out, by reason."""
    for one in windows:
        one.advance(now)
    rows = _rows_of_all(windows, part)
    minute_s = windows[0].minute_s
    minutes = ((part.from_at + part.to_at) / 2 // minute_s).astype(np.int64)
    newest: npt.NDArray[np.int64] | int = windows[0].newest
    if any(one.newest != newest for one in windows):
        # The clock was set back since some of them were told something.
        newest = np.repeat([one.newest for one in windows], part.counts)
    wanted, dropped = rows >= 0, dict[str, int]()
    for reason, wrong in (("late", minutes <= newest - MINUTES), ("ahead", minutes > newest)):
        if count := int(np.count_nonzero(wrong & wanted)):
            dropped[reason] = count
            wanted &= ~wrong
    if unplaced := int(np.count_nonzero(rows == _NO_ROOM)):
        dropped["rows"] = unplaced
    places = rows * MINUTES + minutes % MINUTES
    each = (int(rows.max()) + 1) * MINUTES
    if len(windows) > 1:
        places += np.repeat(np.arange(len(windows)) * each, part.counts)
    figures = values_of(part)
    if not wanted.all():
        places = places[wanted]
        figures = [None if one is None else one[wanted] for one in figures]
    if len(places):
        _fold(windows, places, figures, each=each)
    return dropped


def _rows_of_all(windows: Sequence[NodeWindow], part: PointsTogether) -> npt.NDArray[np.int32]:
    """The row of each point."""
    both = list(zip(windows, part.reported, strict=True))
    rows = part.by_series([window.rows_of(one.points) for window, one in both])[part.series]
    if rows.min() == _UNASKED:
        for window, one in both:
            window.ask(one.points)
        rows = part.by_series([window.rows_of(one.points) for window, one in both])[part.series]
    return rows


def _fold(
    windows: Sequence[NodeWindow],
    places: npt.NDArray[np.intp],
    figures: Sequence[Numbers | None],
    *,
    each: int,
) -> None:
    """Take the values of *figures* into the means at *places*, of which there are so many for *each* window."""
    unique, inverse = _distinct(places, most=each * len(windows))
    ends = np.searchsorted(unique, np.arange(1, len(windows) + 1) * each).tolist()
    spans = [
        (window, slice(begin, end), unique[begin:end] - number * each)
        for number, (window, begin, end) in enumerate(
            zip(windows, [0, *ends[:-1]], ends, strict=True)
        )
        if end > begin
    ]
    points = np.bincount(inverse)
    before = np.concatenate([one.points_at(at) for one, _, at in spans]).astype(np.float64)
    for number, (one, values) in enumerate(zip(_FIGURES, figures, strict=True)):
        if values is None:
            continue
        known = ~np.isnan(values)
        if known.all():
            fresh, sums = points, np.bincount(inverse, values)
        else:
            into = inverse[known]
            fresh = np.bincount(into, minlength=len(unique))
            sums = np.bincount(into, values[known], minlength=len(unique))
        there = np.concatenate([window.codes_at(number, at) for window, _, at in spans])
        kept = one.scale.decode(there)
        unknown = np.isnan(kept)
        kept[unknown] = 0.0
        weight = np.where(unknown, 0.0, before)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (kept * weight + sums) / (weight + fresh)
            coded = one.scale.encode(np.clip(mean, 0.0, LARGEST))
        codes = np.where(fresh > 0, coded, there)
        for window, span, at in spans:
            if fresh[span].any():
                window.keep(number, at, codes[span])
    counts = np.minimum(before + points, 250)
    for window, span, at in spans:
        window.count(at, counts[span])


def _distinct(places: Places, *, most: int) -> tuple[Places, Places]:
    """As `np.unique` has them with the inverse, which takes three times as long where they are below 65 536."""
    narrow = places.astype(np.uint16) if most <= 1 << 16 else places
    order = np.argsort(narrow, kind="stable")
    ordered = places[order]
    begins = np.append(True, ordered[1:] != ordered[:-1])
    inverse = np.empty(len(places), dtype=np.intp)
    inverse[order] = np.cumsum(begins) - 1
    return ordered[begins], inverse
