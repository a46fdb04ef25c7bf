"""What workloads used on the last days, slot by slot: what seasons are found in.

A line for each workload, and the first for all of them together. Points are added to the slot of their middle
while it is open; when it is over, the mean of what was reported of it is kept, if that was half of it.
Where clocks are set back a slot comes twice, and its mean is over both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nemutator_controller.seasons.calendars import SeasonCalendar, SlotPlace
from nemutator_controller.seasons.experts import Numbers

Scope = tuple[str, str, str]
"""Namespace, kind and name of a workload."""
CLUSTER: Scope = ("", "", "")
"""All workloads together; off clusters all that runs on the machine."""

DAYS = 22
"""Three weeks, and the day that is not over."""
OPEN = 8
"""Slots to which points are added still, the newest being that of now."""

KNOWN_SHARE = 0.5
"""Of a slot must have been reported."""
_LARGEST = 60_000.0
_SMALLEST = np.float16(6e-8)
"""Stands for nothing used: zeroed memory, which the system does not give before it is written, means unknown."""

Rows = npt.NDArray[np.intp]
HalfNumbers = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class ClosedSlot:
    place: SlotPlace
    at: float
    """When it ended."""
    use: Numbers
    """By line; NaN: not known."""


@dataclass(frozen=True, slots=True)
class SavedDay:
    scope: Scope
    day: int
    use: HalfNumbers
    """By slot, 0: not known."""


@dataclass(slots=True)
class DayBook:
    calendar: SeasonCalendar
    most: int
    """Workloads, beside the line of all."""
    numbers: dict[Scope, int] = field(init=False)
    changed: set[tuple[int, int]] = field(default_factory=set, init=False)
    """Line and day, of what was not saved yet."""
    today: int | None = field(default=None, init=False)
    moves: int = field(default=0, init=False)
    """It rises whenever a line stops to belong to its workload."""
    _kept: HalfNumbers = field(init=False)
    """By day, line and slot: days that are not written yet take no memory, as they would if each line had all of its days beside
    each other."""
    _heard_at: Numbers = field(init=False)
    _used: Numbers = field(init=False)
    _first: Numbers = field(init=False)
    _last: Numbers = field(init=False)
    _closed_to: int | None = field(default=None, init=False)
    """The first slot, counted from the epoch, that is open."""

    def __post_init__(self) -> None:
        lines = self.most + 1
        self.numbers = {CLUSTER: 0}
        self._kept = np.zeros((DAYS, lines, self.calendar.slots), dtype=np.float16)
        self._heard_at = np.zeros(lines)
        self._used, self._first, self._last = (np.zeros((lines, OPEN)) for _ in range(3))

    @property
    def room(self) -> int:
        """How many workloads can begin before one makes room for another."""
        return self.most + 1 - len(self.numbers)

    def line_of(self, scope: Scope, *, now: float) -> int | None:
        """Its line, which may have been that of a workload that is silent since a day; None: no room."""
        found = self.numbers.get(scope)
        if found is not None:
            return found
        if len(self.numbers) <= self.most:
            found = len(self.numbers)
        else:
            found = 1 + int(np.argmin(self._heard_at[1:]))
            if now - self._heard_at[found] < self.calendar.day_s:
                return None
            gone = next(one for one, number in self.numbers.items() if number == found)
            del self.numbers[gone]
            self._clear(found)
            self.moves += 1
        self.numbers[scope] = found
        self._heard_at[found] = now
        return found

    def add(
        self,
        lines: Rows,
        begin: Numbers,
        end: Numbers,
        cores: Numbers,
        total: npt.NDArray[np.bool_],
        *,
        now: float,
    ) -> int:
        """Add points; those that count in *total* also to the line of all. How many were too late."""
        slot_s = self.calendar.slot_s
        newest = int(now // slot_s)
        if self._closed_to is None:
            self._closed_to = newest - OPEN + 2
        of = ((begin + end) / 2 // slot_s).astype(np.int64)
        # Of one that was closed nothing can be added, nor of one that would fall on a slot before it.
        good = (of >= max(self._closed_to, newest - OPEN + 2)) & (of <= newest + 1) & (end > begin)
        late = int((~good).sum())
        lines, total, of = lines[good], total[good], of[good]
        begin, end, cores = begin[good], end[good], cores[good]
        if not len(lines):
            return late
        np.maximum.at(self._heard_at, lines, end)
        self._heard_at[0] = max(self._heard_at[0], float(end.max()))
        self._add(lines, begin, end, cores, of)
        if total.any():
            zeros = np.zeros(int(total.sum()), dtype=np.intp)
            self._add(zeros, begin[total], end[total], cores[total], of[total])
        return late

    def _add(
        self, lines: Rows, begin: Numbers, end: Numbers, cores: Numbers, of: npt.NDArray[np.int64]
    ) -> None:
        origin = of * self.calendar.slot_s
        where = lines * OPEN + of % OPEN
        # Relative to the slot, and never 0, which means that nothing was reported.
        far = 4 * self.calendar.slot_s
        np.add.at(self._used.reshape(-1), where, cores * (end - begin))
        np.maximum.at(self._first.reshape(-1), where, far - (begin - origin))
        np.maximum.at(self._last.reshape(-1), where, far + (end - origin))

    def close(self, *, now: float, late_s: float) -> Iterator[ClosedSlot]:
        """Keep the slots that ended *late_s* ago, oldest first."""
        slot_s = self.calendar.slot_s
        until = int((now - late_s) // slot_s)
        if self._closed_to is None or until < self._closed_to - OPEN:
            # The clock was set back: what was noted of times to come is of no time.
            self._closed_to = until
            self._forget_after(self.calendar.place(until * slot_s).day)
            return
        # After a pause the slots in between are unknown, and only their days have to be begun.
        for day in self._days_between(self._closed_to, until):
            self._begin(day)
        for number in range(max(self._closed_to, until - OPEN + 1), until):
            yield self._close(number)
        self._closed_to = max(until, self._closed_to)

    def days(self, line: int, *, before: int) -> tuple[int, Numbers]:
        """The first day, and a line for each day from it to the one *before*; NaN: not known."""
        first = before - DAYS + 1
        codes = self._kept[np.arange(first, before) % DAYS, line]
        return first, _decoded(codes)

    def whole_days(self, *, before: int, share: float) -> Iterator[npt.NDArray[np.bool_]]:
        """Day by day, of which lines so much is known; of all days alike those that there are when the first is asked for."""
        lines = len(self.numbers)
        for day in range(before - DAYS + 1, before):
            yield (self._kept[day % DAYS, :lines] != 0).mean(axis=1) >= share

    def today_of(self, line: int) -> Numbers:
        if self.today is None:
            return np.full(self.calendar.slots, np.nan)
        return _decoded(self._kept[self.today % DAYS, line])

    def take_changed(self) -> list[SavedDay]:
        scopes = {number: scope for scope, number in self.numbers.items()}
        taken, self.changed = self.changed, set()
        return [
            SavedDay(scopes[line], day, self._kept[day % DAYS, line].copy())
            for line, day in sorted(taken)
            if line in scopes
        ]

    def give_back(self, days: Iterable[SavedDay]) -> None:
        """They could not be saved, and have to be taken once more."""
        self.changed |= {
            (line, one.day) for one in days if (line := self.numbers.get(one.scope)) is not None
        }

    def restore(self, saved: Iterable[SavedDay], *, now: float) -> int:
        """Take over what was saved; how many days had no room, or were not of these slots."""
        today = self.calendar.place(now).day
        self._begin(today)
        left = 0
        for one in saved:
            line = self.line_of(one.scope, now=now)
            fits = one.use.shape == (self.calendar.slots,) and today - DAYS < one.day <= today
            if line is None or not fits:
                left += 1
                continue
            self._kept[one.day % DAYS, line] = one.use
        return left

    def fill(self, saved: Iterable[SavedDay], *, now: float) -> None:
        """Take over the slots of *saved* that are not known here, as from a brain that has heard of them. What is older than
        those days has been saved by it."""
        today = self.calendar.place(now).day
        self._begin(today)
        for one in saved:
            line = self.line_of(one.scope, now=now)
            fits = one.use.shape == (self.calendar.slots,) and today - DAYS < one.day <= today
            if line is not None and fits:
                kept = self._kept[one.day % DAYS, line]
                kept[:] = np.where(kept == 0, one.use, kept)
        self.changed = {one for one in self.changed if one[1] >= today - 1}

    def _close(self, number: int) -> ClosedSlot:
        at = number * self.calendar.slot_s
        place = self.calendar.place(at)
        used = len(self.numbers)
        column = number % OPEN
        first, last = self._first[:used, column], self._last[:used, column]
        far = 4 * self.calendar.slot_s
        spoken = np.where(last > 0, (last - far) - (far - first), 0.0)
        known = spoken >= KNOWN_SHARE * self.calendar.slot_s
        with np.errstate(divide="ignore", invalid="ignore"):
            use = np.where(known, self._used[:used, column] / spoken, np.nan)
        self._begin(place.day)
        kept = self._kept[place.day % DAYS, :used, place.slot]
        before = _decoded(kept)
        both = np.where(np.isnan(before), use, (before + use) / 2)
        self._kept[place.day % DAYS, :used, place.slot] = np.where(known, _encoded(both), kept)
        self.changed.update((line, place.day) for line in np.flatnonzero(known).tolist())
        for matrix in (self._used, self._first, self._last):
            matrix[:, column] = 0
        return ClosedSlot(place, at + self.calendar.slot_s, use)

    def _begin(self, day: int) -> None:
        if self.today is None:
            self.today = day
        if day > self.today:
            for begun in range(max(self.today + 1, day - DAYS + 1), day + 1):
                self._kept[begun % DAYS, : len(self.numbers)] = 0
            self.today = day

    def _days_between(self, first: int, until: int) -> Sequence[int]:
        slot_s = self.calendar.slot_s
        begin, end = (self.calendar.place(number * slot_s).day for number in (first, until))
        return range(max(begin + 1, end - DAYS), end + 1)

    def _forget_after(self, day: int) -> None:
        if self.today is not None and day < self.today:
            for gone in range(max(day + 1, self.today - DAYS + 1), self.today + 1):
                self._kept[gone % DAYS] = 0
            self.changed = {one for one in self.changed if one[1] <= day}
            self.today = day
        for matrix in (self._used, self._first, self._last):
            matrix[:] = 0

    def _clear(self, line: int) -> None:
        self._kept[:, line] = 0
        for matrix in (self._used, self._first, self._last):
            matrix[line] = 0
        self.changed = {one for one in self.changed if one[0] != line}


def _encoded(use: Numbers) -> HalfNumbers:
    codes: HalfNumbers = np.clip(use, 0.0, _LARGEST).astype(np.float16)
    return np.where(codes == 0, _SMALLEST, codes)


def _decoded(codes: HalfNumbers) -> Numbers:
    values = codes.astype(np.float64)
    return np.where(values == 0.0, np.nan, np.where(values <= 1e-7, 0.0, values))
