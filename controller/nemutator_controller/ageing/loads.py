"""How much a process had to do while it was read, by what is counted of it anyway.

Nobody tells how many requests came. What a program allocates for them is the nearest: objects, because
one that grows is copied as one, however large it has become. Where no allocations are recorded it is CPU
time, of which a program that ages may need more for the same work.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median

from nemutator_controller.ageing.model import KeptWindow, LoadFigure, WindowSource
from nemutator_controller.ageing.trends import SeriesPoint

LEAST_KNOWN = 0.75
"""Of the points of a series: of fewer, nothing is known of the load."""

LEAST_RISE = 0.2
"""Of the load since the start, before growth may be its doing."""

CLOSER = 0.5
"""What the load leaves unexplained must be at most this part of what time does."""

_ROUNDING = 1e-9

_COUNTED: Mapping[LoadFigure, Callable[[KeptWindow], float | None]] = {
    "allocations": lambda one: one.allocated_objects,
    "CPU time": lambda one: one.cpu_seconds,
}


def load_figure(history: Mapping[WindowSource, Sequence[KeptWindow]]) -> LoadFigure | None:
    """By what the load of all processes of a workload can be known: one figure for all of them."""
    for figure, counted in _COUNTED.items():
        if any(counted(one) is not None for windows in history.values() for one in windows):
            return figure
    return None


def load_of(windows: Sequence[KeptWindow], figure: LoadFigure | None) -> list[SeriesPoint]:
    """Per second, at the end of each time between two readings of one process."""
    if figure is None:
        return []
    counts = list[SeriesPoint]()
    for one in windows:
        count = _COUNTED[figure](one)
        # Amounts change when a collection has ended: one that is the same was no time without load.
        if count is not None and not (counts and count == counts[-1].value):
            counts.append(SeriesPoint(one.at, count))
    return [
        SeriesPoint(later.at, max(later.value - earlier.value, 0.0) / (later.at - earlier.at))
        for earlier, later in pairwise(counts)
        if later.at > earlier.at
    ]


def beside(
    points: Sequence[SeriesPoint], load: Sequence[SeriesPoint], width_s: float
) -> tuple[list[SeriesPoint], list[float] | None]:
    """Those of *points*, means of *width_s*, at which the load is known, and the load there; all of them and
    None where too little of it is."""
    if width_s <= 0:
        return list(points), None
    parts: dict[int, list[float]] = {}
    for at, value in load:
        parts.setdefault(int(at // width_s), []).append(value)
    known = [
        (point, sum(of_it) / len(of_it))
        for point in points
        if (of_it := parts.get(int(point.at // width_s))) is not None
    ]
    if not known or len(known) < LEAST_KNOWN * len(points):
        return list(points), None
    return [point for point, _ in known], [value for _, value in known]


def explains(series: Sequence[tuple[Sequence[SeriesPoint], Sequence[float] | None]]) -> bool:
    """Whether *series* follow their loads, which have risen, more closely than they follow time."""
    of_values = 0.0
    squares, products = [0.0, 0.0], [0.0, 0.0]
    rises = []
    for points, load in series:
        if load is None:
            return False
        third = max(len(load) // 3, 1)
        rises.append((median(load[:third]), median(load[-third:])))
        values = _centred([one.value for one in points])
        of_values += sum(one * one for one in values)
        for place, along in enumerate((_centred([one.at for one in points]), _centred(load))):
            squares[place] += sum(one * one for one in along)
            products[place] += sum(a * b for a, b in zip(values, along, strict=True))
    first, last = (sum(one[place] for one in rises) for place in (0, 1))
    if last < (1 + LEAST_RISE) * first or min(squares) <= 0 or products[1] <= 0:
        return False
    by_time, by_load = (
        of_values - product**2 / square for product, square in zip(products, squares, strict=True)
    )
    return by_load < CLOSER * by_time - _ROUNDING * of_values


def _centred(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [one - mean for one in values]
