"""What every container has used, in a bounded number of rows.

CPU samples of all pods of an owner are one histogram, and its busiest replicas have their own beside it. Memory
is kept as peaks: one a day, for two weeks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from nemutator_controller.sizing import held_up
from nemutator_controller.sizing.buckets import CPU, MEMORY
from nemutator_controller.sizing.daily_peaks import DailyPeaks
from nemutator_controller.sizing.histograms import Histograms, Rows
from nemutator_controller.sizing.hottest import HottestReplicas
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.known_usage import DEFAULT_KNOBS, Knobs, KnownUsage, UsageColumns
from nemutator_controller.sizing.learned_margins import LEAST_SPAN_S, learned_margins, whole_days
from nemutator_controller.sizing.margins import MARGINS, Margins
from nemutator_controller.sizing.ordered_keys import OrderedKeys
from nemutator_controller.sizing.packed_rows import Peaks, SavedUsage
from nemutator_controller.sizing.samples import UsageSamples

CPU_WEIGHT = 0.1
"""Of each sample, all alike: if requests were the weight, containers that we change would count more."""

MOST_KILLS = 1_000
"""That one point counts for."""

SPARED_S = 3600.0
"""A row that was reported so recently makes no room: one container too many would otherwise push each
row out before it is reported again, and no container would ever get advice."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of samples."""

    learned: int
    evicted: int
    """Rows that made room."""
    refused: int
    """UsageSamples of containers for which there was no row."""


_STATE = np.dtype(
    [
        ("points", np.int64),
        ("first_at", np.float64),
        ("last_at", np.float64),
        ("step_s", np.float64),
        ("sampled_s", np.float64),
        ("steps", np.float64),
        # When it was reported last, by the brain's clock, and in which order.
        ("heard_at", np.float64),
        ("turn", np.int64),
        ("throttled", np.float64),
        ("cpu_waiting", np.float64),
        ("memory_waiting", np.float64),
        ("kills", np.int64),
        # The last turn before it was saved last, or began.
        ("saved", np.int64),
        ("changed", np.bool_),
    ]
)

_KEPT = tuple(name for name in _STATE.names or () if name not in ("turn", "changed", "saved"))
"""What is saved of it."""


class Usages:
    """At most *most* rows. The one that was not reported for longest makes room, after an hour."""

    def __init__(self, *, most: int, knobs: Knobs = DEFAULT_KNOBS) -> None:
        self._most = most
        self.knobs = knobs
        self._rows: dict[ContainerKey, int] = {}
        self._keys: dict[int, ContainerKey] = {}
        self._ordered = OrderedKeys()
        self._used = 0
        """Rows from here on have never been used: the system gives their memory when they are. To move all rows to where there is
        room for more would hold everybody up for as long as it takes, and take twice the memory meanwhile."""
        self._free: list[int] = []
        """Those before it that are nobody's."""
        self._state = np.zeros(most, dtype=_STATE)
        self._cpu = Histograms(CPU, rows=most)
        self._hottest = HottestReplicas(CPU, rows=most, most=most)
        self._peaks = DailyPeaks(most)
        self._gone: set[ContainerKey] = set()
        self._margins: tuple[int, Margins] = (-1, MARGINS)
        """Since which hour they stand."""
        self._turn = 0
        self.moves = 0
        """It rises whenever a row stops to belong to its key."""

    def __len__(self) -> int:
        return len(self._rows)

    def learn(self, samples: UsageSamples, *, now: float) -> Learned:
        """Take *samples* in, as far as there is room."""
        if not len(samples.of):
            return Learned(0, 0, 0)
        rows, evicted = self._rows_of(samples, now=now)
        fits = rows >= 0
        refused = len(rows) - int(fits.sum())
        # By row, and within a row as they came.
        order = np.flatnonzero(fits)
        # Of 16 bits, numpy sorts by radix: an eighth of the time.
        narrow = np.uint16 if self._most <= 1 << 16 else np.intp
        order = order[np.argsort(rows[order].astype(narrow), kind="stable")]
        if len(order):
            of = rows[order]
            self._take(of, samples, order)
            self._note_kills(rows, samples, order)
            self._state["heard_at"][of] = now
        return Learned(len(order), evicted, refused)

    def forget(self, *, silent_since: float) -> int:
        """Drop the rows that were not reported since then; how many those were."""
        heard_at = self._state["heard_at"]
        old = [key for key, row in self._rows.items() if heard_at[row] < silent_since]
        for key in old:
            self._drop(key)
        return len(old)

    def keys(self) -> list[ContainerKey]:
        """All keys in their order."""
        return self._ordered.all()

    def known_since(self) -> dict[ContainerKey, float]:
        """Where the first point of each begins."""
        first = self._state["first_at"]
        return {key: float(first[row]) for key, row in self._rows.items()}

    def last_at(self, key: ContainerKey) -> float:
        """Where its last point ends; long ago where it is not known."""
        row = self._rows.get(key)
        return 0.0 if row is None else float(self._state["last_at"][row])

    def seen(self, wanted: Iterable[ContainerKey], *, now: float) -> list[KnownUsage]:
        """What is known of *wanted*, in that order; what was dropped since is left out."""
        return self.columns(wanted, now=now).rows()

    def columns(self, wanted: Iterable[ContainerKey], *, now: float) -> UsageColumns:
        """The same, a column for each figure."""
        found = [(key, row) for key in wanted if (row := self._rows.get(key)) is not None]
        keys, rows = [key for key, _ in found], np.array([row for _, row in found], dtype=np.intp)
        state, knobs = self._state[rows], self.knobs
        share, days = knobs.cpu_percentile / 100, knobs.window_days
        p50, pooled = self._cpu.percentiles((0.5, share), rows)
        since = now - days * 86_400
        most, needed = self._peaks.most(rows, now=now, days=days)
        return UsageColumns(
            keys=keys,
            points=state["points"],
            span_s=state["last_at"] - state["first_at"],
            step_s=state["step_s"],
            sampled_s=state["sampled_s"],
            steps=state["steps"],
            last_at=state["last_at"],
            cpu_p50=p50,
            cpu_p95=np.maximum(pooled, self._hottest.percentile(share, rows, since=since)),
            memory_p95=self._peaks.percentile(0.95, rows, now=now, days=days).astype(np.int64),
            memory_max=most.astype(np.int64),
            memory_needed=needed.astype(np.int64),
            kills=np.where(needed > 0, state["kills"], 0),
            throttled=state["throttled"],
            cpu_waiting=state["cpu_waiting"],
            memory_waiting=state["memory_waiting"],
            knobs=knobs,
            margins=self.margins(now),
        )

    def margins(self, now: float) -> Margins:
        """Of memory, as all that is known here needed them; looked at again each hour."""
        hour = int(now // 3_600)
        if self._margins[0] != hour:
            rows = np.fromiter(self._rows.values(), dtype=np.intp, count=len(self._rows))
            first, last = self._state["first_at"][rows], self._state["last_at"][rows]
            # Of the others nothing can be learned; where most are new, to go through them takes long.
            rows = rows[last - first >= LEAST_SPAN_S]
            known, peaks = self._state[rows], self._peaks
            whole = whole_days(
                peaks.largest[rows],
                peaks.needed[rows],
                peaks.days[rows],
                first_at=known["first_at"],
                last_at=known["last_at"],
                now=now,
            )
            self._margins = hour, learned_margins(whole)
        return self._margins[1]

    def changes(self) -> tuple[list[ContainerKey], frozenset[ContainerKey]]:
        """What has to be saved, of which that comes first which has waited longest, and what is to be removed."""
        changed = np.flatnonzero(self._state["changed"][: self._used])
        changed = changed[np.argsort(self._state["saved"][changed], kind="stable")]
        return [self._keys[row] for row in changed.tolist()], frozenset(self._gone)

    def kept(self, keys: Iterable[ContainerKey]) -> dict[ContainerKey, SavedUsage]:
        """All that is known of *keys*, as far as they are still there."""
        found = {key: row for key in keys if (row := self._rows.get(key)) is not None}
        rows = np.fromiter(found.values(), dtype=np.intp, count=len(found))
        return dict(zip(found, self._kept(rows), strict=True))

    def saved(self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]) -> None:
        """Note that *kept* and *gone* are on disk; what came since is still to be saved."""
        state = self._state
        for row, was in ((self._rows[key], was) for key, was in kept.items() if key in self._rows):
            state["saved"][row] = self._turn
            state["changed"][row] &= state["points"][row] != was.points
        self._gone -= set(gone)

    def restore(self, kept: Mapping[ContainerKey, SavedUsage]) -> None:
        """Go on with *kept*: with those that were reported last, when there is no room for all."""
        self._margins = -1, MARGINS
        last = sorted(kept.items(), key=lambda item: item[1].heard_at)[-self._most :]
        for key, was in last:
            row = self._begin(key)
            self._turn += 1
            self._state[row] = (
                was.points, was.first_at, was.last_at, was.step_s, was.sampled_s, was.steps,
                was.heard_at, self._turn, was.throttled, was.cpu_waiting, was.memory_waiting, was.kills, self._turn, False,
            )  # fmt: skip
            self._cpu.restore(row, was.cpu, was.cpu_reference_at)
            self._hottest.restore(
                row, was.only_replica, was.replicas, reference_at=was.replicas_reference_at
            )
            self._peaks.largest[row] = was.peaks.largest
            self._peaks.days[row] = was.peaks.days
            self._peaks.needed[row] = was.peaks.needed

    def show(self, saved: Mapping[ContainerKey, SavedUsage]) -> None:
        """Take *saved* in the place of what was known of the same containers: another brain learns."""
        for key in saved.keys() & self._rows.keys():
            self._drop(key)
        self.restore(dict(list(saved.items())[: max(0, self._most - len(self._rows))]))
        self._gone.clear()

    def become(self, other: "Usages") -> None:
        """Know what *other* knows, in its place; *other* is not used any more."""
        moves = self.moves + other.moves + 1
        vars(self).update(vars(other))
        self.moves = moves

    def row_of(self, key: ContainerKey) -> int:
        """The row of *key* for as long as `moves` stays the same; -1: it has none."""
        return self._rows.get(key, -1)

    def _rows_of(self, samples: UsageSamples, *, now: float) -> tuple[Rows, int]:
        """The row of each sample, -1 for those without room; and how many rows had to go."""
        rows = np.full(len(samples.of), -1, dtype=np.intp) if samples.rows is None else samples.rows
        without = np.flatnonzero(rows < 0)
        self._hear(rows[rows >= 0], now=now)
        if not len(without):
            return rows, 0
        unnamed = samples.of[without]
        numbers, first = np.unique(unnamed, return_index=True)
        # As they were reported: whoever came last makes room last.
        numbers = numbers[np.argsort(first, kind="stable")]
        known = np.array(
            [self.row_of(samples.keys[number]) for number in numbers.tolist()], dtype=np.intp
        )
        self._hear(known[known >= 0], now=now)
        evicted, full = 0, False
        for place in np.flatnonzero(known < 0).tolist():
            if not self._has_room() and not full:
                gone = self._make_room(spared_since=now - SPARED_S)
                evicted += gone
                full = not gone
            if not full:
                known[place] = self._begin(samples.keys[int(numbers[place])])
                self._hear(known[place : place + 1], now=now)
        found = np.full(len(samples.keys), -1, dtype=np.intp)
        found[numbers] = known
        rows = rows.copy()
        rows[without] = found[unnamed]
        return rows, evicted

    def _hear(self, rows: Rows, *, now: float) -> None:
        """Note that *rows* were reported: those that come last, last."""
        if len(rows):
            self._state["heard_at"][rows] = now
            # Of a row that is named twice the last turn counts.
            self._state["turn"][rows] = np.arange(self._turn + 1, self._turn + 1 + len(rows))
            self._turn += len(rows)

    def _begin(self, key: ContainerKey) -> int:
        if self._free:
            row = self._free.pop()
        else:
            row, self._used = self._used, self._used + 1
        self._rows[key] = row
        self._keys[row] = key
        self._ordered.add(key)
        self._state["saved"][row] = self._turn
        self._gone.discard(key)
        return row

    def _has_room(self) -> bool:
        return bool(self._free) or self._used < self._most

    def _make_room(self, *, spared_since: float) -> int:
        """How many rows had to go, all of which are taken."""
        oldest = int(self._state["turn"].argmin())
        if self._state["heard_at"][oldest] > spared_since:
            return 0
        self._drop(self._keys[oldest])
        return 1

    def _drop(self, key: ContainerKey) -> None:
        row = self._rows.pop(key)
        self.moves += 1
        del self._keys[row]
        self._ordered.remove(key)
        self._cpu.clear(row)
        self._hottest.clear(row)
        self._peaks.clear(row)
        self._state[row] = np.zeros((), dtype=_STATE)
        self._free.append(row)
        self._gone.add(key)

    def _take(self, of: Rows, samples: UsageSamples, order: Rows) -> None:
        """The samples of *order*, which is that of their rows *of*."""
        from_at, to_at, cores = (
            column[order] for column in (samples.from_at, samples.to_at, samples.cpu_cores)
        )
        starts = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        rows = of[starts]
        state, points = self._state, self._state["points"][rows]
        first = np.minimum.reduceat(from_at, starts)
        last = np.maximum.reduceat(to_at, starts)
        ends = np.append(starts[1:], len(of)) - 1
        held_up.note(state, rows, samples, order, starts, last)
        state["first_at"][rows] = np.where(
            points > 0, np.minimum(state["first_at"][rows], first), first
        )
        state["last_at"][rows] = np.maximum(state["last_at"][rows], last)
        lengths = to_at - from_at
        state["step_s"][rows] = lengths[ends]
        state["points"][rows] = points + (ends - starts + 1)
        state["sampled_s"][rows] += np.add.reduceat(lengths, starts)
        known = state[rows]
        spans = known["last_at"] - known["first_at"]
        paced = spans * known["points"] / known["sampled_s"]
        state["steps"][rows] = np.maximum(known["steps"], paced)
        state["changed"][rows] = True
        self._peaks.note(of, to_at, samples.memory_bytes[order])
        self._cpu.add(of, cores, CPU_WEIGHT, to_at)
        self._hottest.add(of, samples.replicas[order], cores, to_at, weight=CPU_WEIGHT)

    def note_kill(self, key: ContainerKey, *, at: float, requested: float, again: bool) -> None:
        """A kill for memory of a container that *requested* so much. *again*: only where its day has none."""
        row = self._rows.get(key)
        if row is None:
            return
        one, when = np.array([row], dtype=np.intp), np.array([at])
        if again and self._peaks.has_kill(row, at):
            return
        # A day begins with its first point, and this may be before that.
        self._peaks.note(one, when, np.zeros(1))
        self._peaks.note_kills(one, when, np.array([min(requested, MEMORY.largest)]))
        self._state["kills"][row] += 1
        self._state["changed"][row] = True

    def _note_kills(self, rows: Rows, samples: UsageSamples, order: Rows) -> None:
        kills = samples.kills
        if kills is None:
            return
        killed = order[kills[order] > 0]
        if not len(killed):
            return
        had = np.maximum(samples.memory_bytes[killed], samples.requested[killed])
        at = rows[killed]
        self._peaks.note_kills(at, samples.to_at[killed], np.minimum(had, MEMORY.largest))
        counted = np.minimum(kills[killed], MOST_KILLS).astype(np.int64)
        np.add.at(self._state["kills"], at, counted)

    def _kept(self, rows: Rows) -> Iterator[SavedUsage]:
        peaks, hottest = self._peaks, self._hottest
        columns = (
            self._state[list(_KEPT)][rows].tolist(), self._cpu.weights(rows), hottest.kept(rows),
            peaks.largest[rows], peaks.days[rows], peaks.needed[rows],
        )  # fmt: skip
        for state, cpu, (only, replicas), largest, days, needed in zip(*columns, strict=True):
            yield SavedUsage(
                **dict(zip(_KEPT, state, strict=True)),
                cpu_reference_at=self._cpu.reference_at,
                cpu=cpu,
                peaks=Peaks(largest=largest, days=days, needed=needed),
                only_replica=only,
                replicas_reference_at=hottest.histograms.reference_at,
                replicas=replicas,
            )
