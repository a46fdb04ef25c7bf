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

from nemutator_controller.ingest.series_tables import SeriesTable
from nemutator_controller.ingest.usage_codes import UNKNOWN, CoarseScale, FineScale, ShareScale
from nemutator_controller.ingest.usage_points import Numbers, Series, UsagePoints

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

GIB, MB = float(1 << 30), 1e6

Key = tuple[str, str]
"""The pod's uid and the container's id; off clusters the path of the group, and nothing."""

Matrix = npt.NDArray[np.unsignedinteger[Any]]

Codes = Sequence[npt.NDArray[np.unsignedinteger[Any]]]
"""Of each figure, by row and minute, in the codes of its scale."""

Values = npt.NDArray[np.float32]
"""By figure, row and minute, with the last minute at the end; NaN for what is not known."""


def decoded(codes: Codes) -> Values:
    found = np.empty((len(_FIGURES), *codes[0].shape), dtype=np.float32)
    for into, one, of in zip(found, _FIGURES, codes, strict=True):
        into[...] = one.scale.singles[of]
    return found


class NodeWindow:
    def __init__(self, minute_s: float = MINUTE_S) -> None:
        self._minute_s = minute_s
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
        self._newest = 0
        """The last minute that there is room for, by its number since the epoch."""

    def add(self, points: UsagePoints, *, now: float) -> Mapping[str, int]:
        """Take *points* in; how many were left out, by reason."""
        dropped: dict[str, int] = {}
        if not len(points.of):
            return dropped
        self._advance(int(now // self._minute_s))
        rows = self._rows_of(points)[points.of]
        minutes = ((points.from_at + points.to_at) / 2 // self._minute_s).astype(np.int64)
        wanted = rows >= 0
        reasons = {
            "late": minutes <= self._newest - MINUTES,
            "ahead": minutes > self._newest,
        }
        for reason, wrong in reasons.items():
            if count := int(np.count_nonzero(wrong & wanted)):
                dropped[reason] = count
            wanted &= ~wrong
        if unplaced := int(np.count_nonzero(rows == _NO_ROOM)):
            dropped["rows"] = unplaced
        places = rows[wanted].astype(np.intp) * MINUTES + minutes[wanted] % MINUTES
        if len(places):
            figures = _values_of(points)
            self._fold(places, [None if one is None else one[wanted] for one in figures])
        return dropped

    def copied(self, *, now: float) -> tuple[list[Key], Codes]:
        """The keys of its rows, and what is known of them, for `decoded`, which may be called in a thread. The minute that goes on
        is left out: its mean would still change."""
        self._advance(int(now // self._minute_s))
        named = np.full(len(self._hashes), -1)
        with_row = np.flatnonzero(self._of_series >= 0)
        named[self._of_series[with_row]] = with_row
        # Those that ended before their agent was started again have no name any more.
        used = np.flatnonzero((self._hashes != 0) & (named >= 0))
        used = used[np.argsort(named[used])]
        order = (self._newest - MINUTES + 1 + np.arange(MINUTES - 1)) % MINUTES
        which = np.ix_(used, order)
        codes = [
            np.full((len(used), len(order)), UNKNOWN, dtype=one.dtype)
            if codes is None
            else codes[which]
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

    def _advance(self, minute: int) -> None:
        if minute <= self._newest:
            return
        ahead = min(minute - self._newest, MINUTES)
        self._forget((slice(None), (minute - np.arange(ahead)) % MINUTES))
        self._newest = minute

    def _forget(self, which: tuple[Any, ...]) -> None:
        self._counts[which] = 0
        for codes in self._means:
            if codes is not None:
                codes[which] = UNKNOWN

    def _fold(self, places: npt.NDArray[np.intp], figures: Sequence[Numbers | None]) -> None:
        unique, inverse = np.unique(places, return_inverse=True)
        counts = self._counts.reshape(-1)
        before = counts[unique].astype(np.float64)
        for number, (one, values) in enumerate(zip(_FIGURES, figures, strict=True)):
            if values is None:
                continue
            known = ~np.isnan(values)
            fresh = np.bincount(inverse[known], minlength=len(unique))
            if not fresh.any():
                continue
            codes = self._means[number]
            if codes is None:
                codes = np.full((len(self._hashes), MINUTES), UNKNOWN, dtype=one.dtype)
                self._means[number] = codes
            sums = np.bincount(inverse[known], values[known], minlength=len(unique))
            flat = codes.reshape(-1)
            kept = one.scale.decode(flat[unique])
            unknown = np.isnan(kept)
            kept[unknown] = 0.0
            weight = np.where(unknown, 0.0, before)
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = (kept * weight + sums) / (weight + fresh)
                coded = one.scale.encode(np.clip(mean, 0.0, LARGEST))
            flat[unique] = np.where(fresh > 0, coded, flat[unique])
        counts[unique] = np.minimum(before + np.bincount(inverse), 250)

    def _rows_of(self, points: UsagePoints) -> npt.NDArray[np.int32]:
        if self._series is not points.series:
            self._series, self._of_series = points.series, np.empty(0, dtype=np.int32)
        if more := len(points.series) - len(self._of_series):
            asked = np.full(more, _UNASKED, dtype=np.int32)
            self._of_series = np.concatenate((self._of_series, asked))
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
        return self._of_series

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


def _values_of(points: UsagePoints) -> list[Numbers | None]:
    """Of each figure, in their order; None: nothing is known of it, as of waiting where the kernel does not measure it."""

    def share(name: str) -> Numbers | None:
        percent = _known(points, name)
        return None if percent is None else np.clip(percent / 100, 0.0, 1.0)

    memory, waiting = _known(points, "memory_bytes"), share("memory_waiting")
    kills = _known(points, "oom_kills")
    if kills is not None and (kills > 0).any():
        waiting = np.where(kills > 0, 1.0, np.nan if waiting is None else waiting)
    return [
        _known(points, "cpu_cores"),
        None if memory is None else memory / GIB,
        _sum(_known(points, "disk_read"), _known(points, "disk_written")),
        _sum(_known(points, "network_received"), _known(points, "network_sent")),
        _cpu_waiting(points),
        waiting,
        share("disk_waiting"),
        _turn_waiting(points),
    ]


def _known(points: UsagePoints, name: str) -> Numbers | None:
    values = points.columns.get(name)
    if values is None or (np.isnan(values[0]) and np.isnan(values).all()):
        return None
    return values


def _cpu_waiting(points: UsagePoints) -> Numbers | None:
    delay, waiting = _known(points, "run_delay"), _known(points, "cpu_waiting")
    if delay is None and waiting is None:
        return None
    delayed = np.full(len(points), np.nan)
    if delay is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of the time in which it could run, the part in which it had no CPU.
            delayed = np.where(delay > 0, delay / (delay + points.column("cpu_cores")), delay)
    if waiting is not None:
        delayed = np.fmax(delayed, waiting / 100)
    throttled = _known(points, "throttled")
    # A group that its own limit stops waits for nobody else.
    own = 1.0 if throttled is None else 1.0 - np.where(np.isnan(throttled), 0.0, throttled)
    return np.clip(delayed * own, 0.0, 1.0)


def _turn_waiting(points: UsagePoints) -> Numbers | None:
    longest, throttled = _known(points, "run_delay_p99"), _known(points, "throttled")
    if longest is None or throttled is None:
        return longest
    # One turn that its own limit stops is longer than any that others make it wait for.
    return np.where(throttled > 0, np.nan, longest)


def _sum(one: Numbers | None, other: Numbers | None) -> Numbers | None:
    """What is known of both, in MB."""
    if one is None or other is None:
        alone = one if other is None else other
        return None if alone is None else alone / MB
    found: Numbers = np.where(np.isnan(one), other, np.where(np.isnan(other), one, one + other))
    return found / MB
