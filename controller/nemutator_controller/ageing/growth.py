"""Whether one measure of a workload grows, from the readings of its processes.

Two questions, because there are two kinds of answer. In the first two days nothing can be told from a
day's own rise and fall, so there is only what was seen: *provisional*. After that one look a day is taken,
each of which may be wrong with a small part of `WEEKLY_ALPHA`, so that looking often does not make alarms:
that is *firm*. `make bench NAME=ageing` counts how often either is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from nemutator_controller.ageing.trends import DAY_S, HOUR_S, SeriesPoint, Trend, trend

WEEK_S = 7 * DAY_S

FIRM_FROM_S = 3 * DAY_S
"""Until then a cache that fills within a day looks like a leak."""

LONGEST_S = 2 * WEEK_S

WEEKLY_ALPHA = 0.0005
"""The chance of a false firm verdict in a week, spent in equal parts by one look a day."""

KENDALL_ALPHA = 0.01
"""The rise itself must be beyond this; that it is above the floor, beyond what the look may spend. (The
former test counts signs, of which a week of correlated points has few to count.)"""

WEEKLY_FLOOR = 0.2
"""Growth in a week, as a share of the level at first, that nobody needs to hear of."""

PROVISIONAL_FLOOR = 0.2
"""Growth since the start, as a share of the level at first."""

PROVISIONAL_ALPHA = 0.01

PROVISIONAL_POINTS = 6
PROVISIONAL_S = 150.0
MOST_PROVISIONAL_POINTS = 60

PLATEAU = 0.6
"""The last step must be at least this part of the one before; a cache that fills grows ever slower."""

Growth = Literal["grows", "grows provisionally", "steady", "plateau", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Floor:
    """Amounts below which growth is not worth a word, whatever the share."""

    provisional: float
    weekly: float


@dataclass(frozen=True, slots=True)
class Judgement:
    growth: Growth
    reason: str
    slope: float = 0.0
    """Per second."""
    p: float = 1.0
    first: float = 0.0
    """The level at first, over all series."""
    last: float = 0.0
    points: int = 0
    span_s: float = 0.0


def judge(series: Sequence[Sequence[SeriesPoint]], floor: Floor) -> Judgement:
    """What *series* (one for each process of one workload and image, oldest point first) show."""
    kept = [_recent(one) for one in series if one]
    if not kept:
        return Judgement("cannot tell", "there is no reading yet")
    span = max(one[-1].at - one[0].at for one in kept)
    return _firm(kept, floor) if span >= FIRM_FROM_S else _provisional(kept, floor)


def _recent(points: Sequence[SeriesPoint]) -> Sequence[SeriesPoint]:
    first = points[-1].at - LONGEST_S
    return [point for point in points if point.at >= first]


def _firm(series: Sequence[Sequence[SeriesPoint]], floor: Floor) -> Judgement:
    hourly = [binned(one, HOUR_S) for one in series]
    # A process of the last days only says nothing yet of more than its own start.
    aged = [one for one in hourly if one[-1].at - one[0].at >= FIRM_FROM_S]
    found = trend(aged, seasonal=True)
    if found is None:
        return Judgement("cannot tell", "its processes have too few readings at the same hour")
    shown = _shown(aged, found)
    if found.p > KENDALL_ALPHA:
        return shown("steady", "no rise beyond chance")
    least = max(WEEKLY_FLOOR * shown.first, floor.weekly) / WEEK_S
    if found.slope_above(WEEKLY_ALPHA * DAY_S / WEEK_S) < least:
        return shown("steady", "no rise that is surely more than its noise")
    if not _goes_on(aged):
        return shown("plateau", "it grew, and grows ever slower, as a cache that fills")
    return shown("grows", "it grows from day to day")


def _provisional(series: Sequence[Sequence[SeriesPoint]], floor: Floor) -> Judgement:
    width = max(one[-1].at - one[0].at for one in series) / MOST_PROVISIONAL_POINTS
    few = [binned(one, width) for one in series]
    enough = [
        one
        for one in few
        if len(one) >= PROVISIONAL_POINTS and one[-1].at - one[0].at >= PROVISIONAL_S
    ]
    found = trend(enough)
    if found is None:
        points = max(map(len, few))
        return Judgement(
            "cannot tell",
            f"{points} of the {PROVISIONAL_POINTS} readings that it takes",
            points=points,
        )
    shown = _shown(enough, found)
    grown = shown.last - shown.first
    if found.p > PROVISIONAL_ALPHA or grown < max(
        PROVISIONAL_FLOOR * shown.first, floor.provisional
    ):
        return shown("steady", "no rise to speak of since its start")
    if not _goes_on(enough):
        return shown("plateau", "it grew after its start, and grows ever slower")
    return shown("grows provisionally", "it grows since its start; firm after three days")


@dataclass(frozen=True, slots=True)
class _Shown:
    """The numbers of a judgement, for whichever it is."""

    found: Trend
    first: float
    last: float
    points: int
    span_s: float

    def __call__(self, growth: Growth, reason: str) -> Judgement:
        return Judgement(
            growth,
            reason,
            slope=self.found.slope,
            p=self.found.p,
            first=self.first,
            last=self.last,
            points=self.points,
            span_s=self.span_s,
        )


def _shown(series: Sequence[Sequence[SeriesPoint]], found: Trend) -> _Shown:
    levels = [_thirds(one) for one in series]
    span = max(one[-1].at - one[0].at for one in series)
    # From the middle of the first third to the middle of the last are two thirds of the time.
    return _Shown(
        found,
        first=max(sum(first for first, _, _ in levels) / len(levels) - found.slope * span / 6, 0.0),
        last=sum(last for _, _, last in levels) / len(levels) + found.slope * span / 6,
        points=sum(map(len, series)),
        span_s=span,
    )


def _goes_on(series: Sequence[Sequence[SeriesPoint]]) -> bool:
    levels = [_thirds(one) for one in series]
    before = sum(middle - first for first, middle, _ in levels)
    after = sum(last - middle for _, middle, last in levels)
    return after > 0 and after >= PLATEAU * before


def _thirds(points: Sequence[SeriesPoint]) -> tuple[float, float, float]:
    """The median level in each third of the time."""
    begin, third = points[0].at, (points[-1].at - points[0].at) / 3
    parts: tuple[list[float], list[float], list[float]] = ([], [], [])
    for at, value in points:
        parts[min(int((at - begin) / third), 2) if third > 0 else 2].append(value)
    # A gap may leave a third empty: then its neighbours say what it would have been.
    first, last = parts[0], parts[2] or parts[0]
    middle = parts[1] or [(median(first) + median(last)) / 2]
    return median(first), median(middle), median(last)


def binned(points: Sequence[SeriesPoint], width_s: float) -> list[SeriesPoint]:
    """One point, the mean, for each *width_s* in which there is any; all of them when that is 0."""
    if width_s <= 0:
        return list(points)
    found: dict[int, list[SeriesPoint]] = {}
    for point in points:
        found.setdefault(int(point.at // width_s), []).append(point)
    return [
        SeriesPoint(
            sum(point.at for point in some) / len(some),
            sum(point.value for point in some) / len(some),
        )
        for some in found.values()
    ]
