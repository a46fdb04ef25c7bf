"""What every container has used, in a bounded number of rows.

CPU samples of all pods of an owner are one histogram. Memory is kept as peaks: one a day, for two
weeks, because a container that once needed it will need it again, and how often it did does not matter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from nemutator_common.wire import Summary

from nemutator_controller.sizing.buckets import CPU, MEMORY, Numbers
from nemutator_controller.sizing.histograms import Histograms, Rows
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import Peaks, SavedUsage

CPU_WEIGHT = 0.1
"""Of each sample, all alike: if requests were the weight, containers that we change would count more."""

MEMORY_WEIGHT = 1.0
WINDOW_S = 86_400.0
"""Of each window, one peak of memory counts."""

PEAK_DAYS = 14
"""KRR's history: 336 hours."""

FORGOTTEN_S = PEAK_DAYS * 86_400.0
FUTURE_S = 300.0
"""How far an agent's clock may run ahead, as for its reports."""

_FIRST_ROWS = 256

SPARED_S = 3600.0
"""A row that was reported so recently makes no room: one container too many would otherwise push each
row out before it is reported again, and no container would ever get advice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownUsage:
    """What is known of one container's use."""

    key: ContainerKey
    points: int
    span_s: float
    step_s: float
    """Seconds that its last point stands for."""
    last_at: float
    cpu_p50: float
    cpu_p95: float
    memory_p95: int
    """Of the daily peaks, as the histogram has them: 5 % too much at most."""
    memory_max: int
    """The largest peak, exactly."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of samples."""

    learned: int
    evicted: int
    """Rows that made room."""
    refused: int
    """Samples of containers for which there was no row."""


@dataclass(slots=True)
class _Row:
    number: int
    points: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    step_s: float = 0.0
    heard_at: float = 0.0
    """By the brain's clock."""
    window_end: float = 0.0
    window_peak: float = 0.0
    day: int = -1
    """The last day for which a peak was noted."""
    day_peak: float = 0.0
    """That peak."""
    changed: bool = True


@dataclass(frozen=True, slots=True)
class _Samples:
    """Samples that one call adds to a histogram or takes out: it costs little more than for one sample."""

    rows: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)

    def put(self, row: int, value: float, at: float) -> None:
        self.rows.append(row)
        self.values.append(value)
        self.moments.append(at)

    def arrays(self, weight: float) -> tuple[Rows, Numbers, float, Numbers]:
        """As a histogram takes them."""
        rows = np.array(self.rows, dtype=np.intp)
        return rows, np.array(self.values), weight, np.array(self.moments)


@dataclass(frozen=True, slots=True)
class _Peaks:
    """Changes of the largest samples of windows."""

    largest: dict[tuple[int, float], float] = field(default_factory=dict)
    """By row and end of its window."""
    replaced: _Samples = field(default_factory=_Samples)
    """The former largest samples of the same windows, which the histogram has."""

    def begin(self, row: _Row, used: float) -> None:
        """A window of *row* begins with *used*."""
        self.largest[row.number, row.window_end] = used

    def replace(self, row: _Row, used: float) -> None:
        """In the window under way *used* is the largest so far."""
        if (row.number, row.window_end) not in self.largest:
            self.replaced.put(row.number, row.window_peak, row.window_end)
        self.largest[row.number, row.window_end] = used

    def added(self) -> _Samples:
        added = _Samples()
        for (row, end), used in self.largest.items():
            added.put(row, used, end)
        return added


class Usages:
    """At most *most* rows. The one that was not reported for longest makes room, after an hour."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._capacity = min(most, _FIRST_ROWS)
        self._rows: dict[ContainerKey, _Row] = {}
        """In the order in which they were last reported."""
        self._free = list(range(self._capacity))
        self._cpu = Histograms(CPU, rows=self._capacity)
        self._memory = Histograms(MEMORY, rows=self._capacity)
        self._peaks = np.zeros((self._capacity, PEAK_DAYS))
        self._peak_days = np.zeros((self._capacity, PEAK_DAYS), dtype=np.int32)
        self._gone: set[ContainerKey] = set()

    def __len__(self) -> int:
        return len(self._rows)

    def learn(self, samples: Iterable[tuple[ContainerKey, Summary]], *, now: float) -> Learned:
        """Take *samples* in, as far as there is room."""
        evicted = refused = 0
        cores, peaks = _Samples(), _Peaks()
        for key, summary in samples:
            row = self._rows.pop(key, None)
            if row is not None:
                self._rows[key] = row
            else:
                if not self._free:
                    evicted += self._make_room(spared_since=now - SPARED_S)
                if not self._free:
                    refused += 1
                    continue
                row = self._begin(key)
            self._note(row, summary, now=now)
            _note_peak(row, float(summary.memory_bytes), summary.to_at, peaks)
            cores.put(row.number, summary.cpu_cores, summary.to_at)
        self._cpu.add(*cores.arrays(CPU_WEIGHT))
        self._memory.subtract(*peaks.replaced.arrays(MEMORY_WEIGHT))
        self._memory.add(*peaks.added().arrays(MEMORY_WEIGHT))
        return Learned(len(cores.rows), evicted, refused)

    def forget(self, *, silent_since: float) -> int:
        """Drop the rows that were not reported since then; how many those were."""
        old = [key for key, row in self._rows.items() if row.heard_at < silent_since]
        for key in old:
            self._drop(key)
        return len(old)

    def keys(self) -> list[ContainerKey]:
        """All keys in their order. As tuples, many are sorted faster."""
        return sorted(
            self._rows, key=lambda key: (key.namespace, key.owner_kind, key.owner, key.container)
        )

    def seen(self, wanted: Iterable[ContainerKey], *, now: float) -> list[KnownUsage]:
        """What is known of *wanted*, in that order; what was dropped since is left out."""
        keys = [key for key in wanted if key in self._rows]
        rows = [self._rows[key] for key in keys]
        numbers = np.array([row.number for row in rows], dtype=np.intp)
        p50, p95 = (self._cpu.percentile(share, numbers) for share in (0.5, 0.95))
        memory = self._memory.percentile(0.95, numbers)
        recent = self._peak_days[numbers] > int(now // 86_400) - PEAK_DAYS
        most = np.where(recent, self._peaks[numbers], 0.0).max(axis=1, initial=0.0)
        return [
            KnownUsage(
                key=key,
                points=row.points,
                span_s=row.last_at - row.first_at,
                step_s=row.step_s,
                last_at=row.last_at,
                cpu_p50=float(p50[at]),
                cpu_p95=float(p95[at]),
                memory_p95=int(memory[at]),
                memory_max=int(most[at]),
            )
            for at, (key, row) in enumerate(zip(keys, rows, strict=True))
        ]

    def changes(self) -> tuple[list[ContainerKey], frozenset[ContainerKey]]:
        """What has to be saved and what to be removed since the last call of `saved`."""
        return [key for key, row in self._rows.items() if row.changed], frozenset(self._gone)

    def kept(self, keys: Iterable[ContainerKey]) -> dict[ContainerKey, SavedUsage]:
        """All that is known of *keys*, as far as they are still there."""
        return {key: self._kept(self._rows[key]) for key in keys if key in self._rows}

    def saved(self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]) -> None:
        """Note that *kept* and *gone* are on disk; what came since is still to be saved."""
        for key, was in kept.items():
            row = self._rows.get(key)
            if row is not None and row.points == was.points:
                row.changed = False
        self._gone -= set(gone)

    def restore(self, kept: Mapping[ContainerKey, SavedUsage]) -> None:
        """Go on with *kept*: with those that were reported last, when there is no room for all."""
        last = sorted(kept.items(), key=lambda item: item[1].heard_at)[-self._most :]
        for key, was in last:
            if not self._free:
                self._grow()
            row = self._begin(key)
            row.points, row.step_s, row.heard_at = was.points, was.step_s, was.heard_at
            row.first_at, row.last_at = was.first_at, was.last_at
            row.window_end, row.window_peak = was.peaks.window_end, was.peaks.window_peak
            row.changed = False
            self._cpu.restore(row.number, was.cpu, was.cpu_reference_at)
            self._memory.restore(row.number, was.memory, was.memory_reference_at)
            self._peaks[row.number] = was.peaks.largest
            self._peak_days[row.number] = was.peaks.days

    def _begin(self, key: ContainerKey) -> _Row:
        row = self._rows[key] = _Row(self._free.pop())
        self._gone.discard(key)
        return row

    def _make_room(self, *, spared_since: float) -> int:
        """How many rows had to go."""
        if self._capacity < self._most:
            self._grow()
            return 0
        oldest = next(iter(self._rows))
        if self._rows[oldest].heard_at > spared_since:
            return 0
        self._drop(oldest)
        return 1

    def _grow(self) -> None:
        larger = min(2 * self._capacity, self._most)
        self._free = list(range(self._capacity, larger))
        self._cpu.grow(larger)
        self._memory.grow(larger)
        wider = ((0, larger - self._capacity), (0, 0))
        self._peaks, self._peak_days = (
            np.pad(self._peaks, wider),
            np.pad(self._peak_days, wider),
        )
        self._capacity = larger

    def _drop(self, key: ContainerKey) -> None:
        row = self._rows.pop(key)
        self._cpu.clear(row.number)
        self._memory.clear(row.number)
        self._peaks[row.number] = self._peak_days[row.number] = 0
        self._free.append(row.number)
        self._gone.add(key)

    def _note(self, row: _Row, summary: Summary, *, now: float) -> None:
        row.first_at = min(row.first_at, summary.from_at) if row.points else summary.from_at
        row.last_at = max(row.last_at, summary.to_at)
        row.step_s = summary.to_at - summary.from_at
        row.points += 1
        row.heard_at, row.changed = now, True
        day = int(summary.to_at // 86_400)
        if day == row.day and summary.memory_bytes <= row.day_peak:
            return
        slot = day % PEAK_DAYS
        known = self._peak_days[row.number, slot]
        if day < known or (day == known and summary.memory_bytes <= self._peaks[row.number, slot]):
            return
        self._peak_days[row.number, slot] = day
        self._peaks[row.number, slot] = summary.memory_bytes
        row.day, row.day_peak = day, summary.memory_bytes

    def _kept(self, row: _Row) -> SavedUsage:
        return SavedUsage(
            points=row.points,
            first_at=row.first_at,
            last_at=row.last_at,
            step_s=row.step_s,
            heard_at=row.heard_at,
            cpu_reference_at=self._cpu.reference_at,
            cpu=self._cpu.weights(row.number),
            memory_reference_at=self._memory.reference_at,
            memory=self._memory.weights(row.number),
            peaks=Peaks(
                window_end=row.window_end,
                window_peak=row.window_peak,
                largest=self._peaks[row.number].copy(),
                days=self._peak_days[row.number].copy(),
            ),
        )


def _note_peak(row: _Row, used: float, at: float, peaks: _Peaks) -> None:
    """Only the largest sample counts of the window that *at* lies in."""
    if at >= row.window_end:
        end = row.window_end or at
        row.window_end = end + (at - end) // WINDOW_S * WINDOW_S + WINDOW_S
        peaks.begin(row, used)
    elif used > row.window_peak:
        peaks.replace(row, used)
    else:
        return
    row.window_peak = used


def is_sound(summary: Summary, *, now: float) -> bool:
    """Whether *summary* can be taken in: its clock is near ours, and its numbers make sense."""
    return (
        summary.from_at < summary.to_at
        and now - FORGOTTEN_S < summary.to_at <= now + FUTURE_S
        and 0 <= summary.cpu_cores <= CPU.largest
        and 0 <= summary.memory_bytes <= MEMORY.largest
    )
