"""A `UsageHistory` as rows and slices, and back."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from nemutator_controller.history import days, minutes
from nemutator_controller.history.minutes import MINUTE_S
from nemutator_controller.history.slices import PART, Level, Matrix, SavedRow, Slice, SliceName
from nemutator_controller.history.usage_history import FUTURE_S, UsageHistory

Changed = tuple[Level, int]
"""A level, and which minute, five minutes or hour of the week has changed in it."""

HEARD: Changed = ("heard", 0)


def to_save(usage: UsageHistory, changed: Iterable[Changed]) -> list[Changed]:
    """Of *changed*, the last one of each place: where a store has failed for long, a place may have come round again."""
    last = {(level, _place(usage, level, number)[0]): number for level, number in sorted(changed)}
    last.pop(HEARD, None)
    return [HEARD, *((level, number) for (level, _), number in last.items())]


def slices(usage: UsageHistory, changed: Iterable[Changed], *, saved: int) -> Iterator[Slice]:
    """The slices of what *changed*, in the save with this number."""
    for level, number in changed:
        for part in range(-(-usage.rows.used // PART)):
            rows = slice(part * PART, min((part + 1) * PART, usage.rows.used))
            cell, moment = _place(usage, level, number)
            name = SliceName(level, part, cell)
            yield Slice(name, moment, saved, _arrays(usage, level, cell, rows))


class Restoring:
    """Puts rows and slices of a former life into an empty *usage*."""

    def __init__(self, usage: UsageHistory, *, now: float) -> None:
        self._usage = usage
        self._latest = int((now + FUTURE_S) // MINUTE_S)
        self._since = np.full(usage.rows.most, np.iinfo(np.int64).max)
        self.saved = 0
        """The highest number of a save that was found."""

    def put_rows(self, rows: Sequence[SavedRow], *, now: float) -> None:
        for one in rows:
            self.saved = max(self.saved, one.since)
            known = one.key in self._usage.rows.numbers
            if not known and 0 <= one.number < self._usage.rows.most:
                self._usage.rows.take(one.number, one.key, now=now)
                self._since[one.number] = one.since
        self._usage.rows.settle_free()

    def put_slices(self, found: Iterable[Slice]) -> None:
        """All of one level. Those of minutes come before those of days."""
        sound = [one for one in found if self._is_sound(one)]
        for level, group in groupby(sound, key=lambda one: one.name.level):
            some = list(group)
            if level in ("minutes", "days"):
                # What was not written when its place came round again is of an earlier time.
                cells = minutes.CELLS if level == "minutes" else days.CELLS
                newest = max(one.moment for one in some)
                some = [one for one in some if one.moment > newest - cells]
                self._set_clock(level, newest)
            for one in some:
                self._put(one)

    def _set_clock(self, level: Level, newest: int) -> None:
        usage = self._usage
        if level == "days":
            usage.settled_to = (newest + 1) * days.MINUTES
            usage.newest = max(usage.newest, usage.settled_to - 1)
        else:
            usage.newest = newest
            usage.settled_to = max(newest + 1 - minutes.CELLS, 0) // days.MINUTES * days.MINUTES

    def _is_sound(self, one: Slice) -> bool:
        self.saved = max(self.saved, one.saved)
        latest = {"minutes": self._latest, "days": self._latest // days.MINUTES}
        return one.moment <= latest.get(one.name.level, one.moment)

    def _put(self, one: Slice) -> None:
        begin = one.name.part * PART
        usage, level, cell = self._usage, one.name.level, one.name.cell
        if level == "weeks":
            usage.weeks.folded[cell] = max(usage.weeks.folded[cell], one.moment)
        for name, array in one.arrays.items():
            end = min(begin + len(array), usage.rows.most)
            matrix = _column(usage, level, name, cell)
            if matrix is None or matrix.shape[1:] != array.shape[1:]:
                continue
            theirs = self._since[begin:end] <= one.saved
            matrix[begin:end][theirs] = array[: end - begin][theirs]


def _place(usage: UsageHistory, level: Level, number: int) -> tuple[int, int]:
    if level == "minutes":
        return number % minutes.CELLS, number
    if level == "days":
        return number % days.CELLS, number
    return number, int(usage.weeks.folded[number]) if level == "weeks" else 0


def _arrays(usage: UsageHistory, level: Level, cell: int, rows: slice) -> dict[str, Matrix]:
    found = {}
    for name in _names(usage, level):
        column = _column(usage, level, name, cell)
        assert column is not None
        found[name] = column[rows].copy()
    return found


def _names(usage: UsageHistory, level: Level) -> list[str]:
    if level == "heard":
        return ["heard_at"]
    if level == "minutes":
        own, figures, parts = (
            ["time", "unbegun", "ended"],
            usage.minutes.by_figure,
            ("total", "most"),
        )
        return [*own, *(f"{figure}.{part}" for figure in figures for part in parts)]
    if level == "days":
        kept = usage.days.by_figure
        return ["pods", *(f"{figure}.{part}" for figure, parts in kept.items() for part in parts)]
    week = usage.weeks.by_figure
    return [
        "weights",
        *(f"{figure}.{part}" for figure in week for part in ("quantiles", "highest")),
    ]


def _column(usage: UsageHistory, level: Level, name: str, cell: int) -> Matrix | None:
    """A view of one column, or None when this version does not know it."""
    figure, _, part = name.partition(".")
    if part and figure not in usage.figures:
        return None
    matrix: Matrix | None = None
    if level == "heard":
        return usage.rows.heard_at if name == "heard_at" else None
    if level == "minutes":
        own: dict[str, Matrix] = {
            "time": usage.minutes.time,
            "unbegun": usage.minutes.unbegun,
            "ended": usage.minutes.ended,
        }
        kept = usage.minutes.figure(figure) if part else None
        matrix = getattr(kept, part, None) if kept else own.get(name)
    elif level == "days":
        matrix = usage.days.figure(figure).get(part) if part else usage.days.pods
    elif level == "weeks":
        week = usage.weeks.figure(figure) if part else None
        matrix = getattr(week, part, None) if week else usage.weeks.weights
    return None if matrix is None else matrix[:, cell]
