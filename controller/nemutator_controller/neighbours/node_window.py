"""The last hour of one node, minute by minute: what each container took, and what it waited for.

A minute is one of the brain's clock. What an agent with another clock reports of minutes that are not among the
last sixty is left out and counted, so that a clock that jumps spoils nothing that is there.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nemutator_controller.ingest.usage_points import Numbers, Series, UsagePoints

MINUTE_S = 60
MINUTES = 60

MOST_ROWS = 512
"""Containers of one node; kubelet runs 110 pods on one by default."""

FIGURES = ("cpu", "memory", "disk", "network", "cpu_waiting", "memory_waiting", "disk_waiting")
"""Cores, GiB, and MB per second twice; then shares of the time from 0 to 1."""

GIB, MB = float(1 << 30), 1e6

Key = tuple[str, str]
"""The pod's uid and the container's id; off clusters the path of the group, and nothing."""

Values = npt.NDArray[np.float32]


class NodeWindow:
    def __init__(self) -> None:
        self.keys: list[Key] = []
        """By row; rows that nobody has are empty pairs."""
        self._rows: dict[Key, int] = {}
        self._known_series: Sequence[Series] | None = None
        self._of_series: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)
        """The row of each series; -1: none."""
        self._means = np.empty((len(FIGURES), 0, MINUTES), dtype=np.float16)
        self._counts = np.empty((len(FIGURES), 0, MINUTES), dtype=np.uint8)
        self._newest = 0
        """The last minute that there is room for, by its number since the epoch."""

    def add(self, points: UsagePoints, *, now: float) -> Mapping[str, int]:
        """Take *points* in; how many were left out, by reason."""
        dropped: dict[str, int] = {}
        if not len(points.of):
            return dropped
        self._advance(int(now // MINUTE_S))
        rows = self._rows_of(points)[points.of]
        minutes = ((points.from_at + points.to_at) / 2 // MINUTE_S).astype(np.int64)
        wanted = rows >= 0
        reasons = {
            "late": minutes <= self._newest - MINUTES,
            "ahead": minutes > self._newest,
        }
        for reason, wrong in reasons.items():
            if count := int(np.count_nonzero(wrong & wanted)):
                dropped[reason] = count
            wanted &= ~wrong
        if unplaced := int(np.count_nonzero(rows == -2)):
            dropped["rows"] = unplaced
        places = rows[wanted] * MINUTES + minutes[wanted] % MINUTES
        for number, values in enumerate(_figures(points)):
            self._fold(number, places, values[wanted])
        return dropped

    def view(self, *, now: float) -> tuple[list[Key], Values]:
        """The keys of its rows, and by figure, row and minute what is known; the last minute at the end, NaN for what
        is not known. The minute that goes on is left out: its mean would still change."""
        self._advance(int(now // MINUTE_S))
        used = [row for row, key in enumerate(self.keys) if key[0]]
        order = (self._newest - MINUTES + 1 + np.arange(MINUTES - 1)) % MINUTES
        means = self._means[:, used][:, :, order].astype(np.float32)
        means[self._counts[:, used][:, :, order] == 0] = np.nan
        return [self.keys[row] for row in used], means

    def forget_ended(self) -> None:
        """Let others have the rows of which nothing is known any more."""
        silent = np.flatnonzero((self._counts[:, : len(self.keys)] == 0).all(axis=(0, 2)))
        for row in silent.tolist():
            if (key := self.keys[row])[0]:
                del self._rows[key]
                self.keys[row] = ("", "")
                self._known_series = None

    def __len__(self) -> int:
        return len(self._rows)

    def _advance(self, minute: int) -> None:
        if minute <= self._newest:
            return
        ahead = min(minute - self._newest, MINUTES)
        self._counts[:, :, (minute - np.arange(ahead)) % MINUTES] = 0
        self._newest = minute

    def _fold(self, number: int, places: npt.NDArray[np.intp], values: Numbers) -> None:
        known = ~np.isnan(values)
        if not known.any():
            return
        at = places[known]
        unique, inverse = np.unique(at, return_inverse=True)
        fresh = np.bincount(inverse)
        sums = np.bincount(inverse, values[known])
        means, counts = self._means[number].reshape(-1), self._counts[number].reshape(-1)
        before = counts[unique].astype(np.float64)
        # What was there before another minute began in its place counts nothing.
        kept = np.where(before > 0, means[unique].astype(np.float64), 0.0)
        mean = (kept * before + sums) / (before + fresh)
        means[unique] = np.clip(mean, 0.0, 65_000.0)
        counts[unique] = np.minimum(before + fresh, 250)

    def _rows_of(self, points: UsagePoints) -> npt.NDArray[np.intp]:
        if self._known_series is not points.series:
            self._known_series = points.series
            self._of_series = np.empty(0, dtype=np.intp)
        first = len(self._of_series)
        if first < len(points.series):
            more = [self._row(points.series[n]) for n in range(first, len(points.series))]
            self._of_series = np.concatenate((self._of_series, np.array(more, dtype=np.intp)))
        return self._of_series

    def _row(self, series: Series) -> int:
        """-1: it is no container; -2: there is no room for it."""
        key = key_of(series)
        if key is None:
            return -1
        if key in self._rows:
            return self._rows[key]
        row = next((row for row, other in enumerate(self.keys) if not other[0]), len(self.keys))
        if row >= MOST_ROWS:
            return -2
        if row == len(self.keys):
            self.keys.append(key)
            if row >= self._means.shape[1]:
                self._grow(max(16, 2 * row))
        else:
            self.keys[row] = key
            self._counts[:, row] = 0
        self._rows[key] = row
        return row

    def _grow(self, rows: int) -> None:
        rows = min(rows, MOST_ROWS)
        shape = (len(FIGURES), rows, MINUTES)
        means, counts = np.zeros(shape, dtype=np.float16), np.zeros(shape, dtype=np.uint8)
        there = self._means.shape[1]
        means[:, :there], counts[:, :there] = self._means, self._counts
        self._means, self._counts = means, counts


def key_of(series: Series) -> Key | None:
    if series.pod_uid is not None:
        # A pod's own group has the sum of its containers.
        return None if series.container_id is None else (series.pod_uid, series.container_id)
    return None if series.program is not None else (series.path, "")


def _figures(points: UsagePoints) -> list[Numbers]:
    cpu, throttled = points.column("cpu_cores"), points.column("throttled")
    delay = points.column("run_delay")
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of the time in which it could run, the part in which it had no CPU.
        delayed = np.where(delay > 0, delay / (delay + cpu), delay)
    # A group that its own limit stops waits for nobody else.
    own = 1.0 - np.nan_to_num(throttled)
    memory_waiting = points.column("memory_waiting") / 100
    killed = points.column("oom_kills") > 0
    return [
        cpu,
        points.column("memory_bytes") / GIB,
        _sum(points.column("disk_read"), points.column("disk_written")) / MB,
        _sum(points.column("network_received"), points.column("network_sent")) / MB,
        np.clip(np.fmax(delayed, points.column("cpu_waiting") / 100) * own, 0.0, 1.0),
        np.where(killed, 1.0, np.clip(memory_waiting, 0.0, 1.0)),
        np.clip(points.column("disk_waiting") / 100, 0.0, 1.0),
    ]


def _sum(one: Numbers, other: Numbers) -> Numbers:
    """What is known of both."""
    found: Numbers = np.where(np.isnan(one), other, one + np.nan_to_num(other))
    return found
