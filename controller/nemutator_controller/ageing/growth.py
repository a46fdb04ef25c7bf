"""Whether one measure of a workload grows, from the readings of its processes.

Two questions, because there are two kinds of answer. In the first days nothing can be told from a day's own
rise and fall, so there is only what was seen: *provisional*, by a median of slopes. After that one look a day
is taken at what is known of the slope beside jumps, caches and the season of a day, each of which may be wrong
with a small part of `WEEKLY_ALPHA`, so that looking often does not make alarms: that is *firm*.
`make bench NAME=ageing` counts how often either is wrong.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median
from typing import Literal

from nemutator_controller.ageing.loads import beside, explains
from nemutator_controller.ageing.slopes import WIDTH_S, slope_mixture, together
from nemutator_controller.ageing.trends import DAY_S, SeriesPoint, trend

WEEK_S = 7 * DAY_S

FIRM_FROM_S = 3 * DAY_S
"""Until then a cache that fills within a day looks like a leak."""

LONGEST_S = 2 * WEEK_S

WEEKLY_ALPHA = 0.0035
"""How likely growth below the floor may be, in a week: spent in equal parts by one look a day."""

WEEKLY_FLOOR = 0.2
"""Growth in a week, as a share of the level at first, that nobody needs to hear of."""

PROVISIONAL_FLOOR = 0.2
"""Growth since the start, as a share of the level at first."""

PROVISIONAL_ALPHA = 0.01

PROVISIONAL_POINTS = 6
PROVISIONAL_S = 150.0
"""How long readings must go on; the setting `ageing_after_s` is this one."""

MOST_PROVISIONAL_POINTS = 60

LIKELY = 0.5
"""From here on a jump, a cache or the load is named as the reason."""

PLATEAU = 0.6
"""The last step must be at least this part of the one before; a cache that fills grows ever slower."""

_WithLoad = tuple[Sequence[SeriesPoint], Sequence[SeriesPoint]]
"""The points of a process, and its load."""

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
    """Firm: the probability that it grows by less than the floor; else of so much rise by chance."""
    first: float = 0.0
    """The level at first, over all series."""
    last: float = 0.0
    points: int = 0
    span_s: float = 0.0


def judge(
    series: Sequence[Sequence[SeriesPoint]],
    floor: Floor,
    *,
    after_s: float = PROVISIONAL_S,
    loads: Sequence[Sequence[SeriesPoint]] | None = None,
) -> Judgement:
    """What *series* (one for each process of one workload and image, oldest point first) show.

    *loads*, where they are known: how much each of these processes had to do.
    """
    all_loads = loads if loads is not None else [()] * len(series)
    kept = [(_recent(one), load) for one, load in zip(series, all_loads, strict=True) if one]
    if not kept:
        return Judgement("cannot tell", "there is no reading yet")
    span = max(one[-1].at - one[0].at for one, _ in kept)
    return _firm(kept, floor) if span >= FIRM_FROM_S else _provisional(kept, floor, after_s)


def _recent(points: Sequence[SeriesPoint]) -> Sequence[SeriesPoint]:
    return points[bisect_left(points, points[-1].at - LONGEST_S, key=attrgetter("at")) :]


def _firm(series: Sequence[_WithLoad], floor: Floor) -> Judgement:
    # A process of the last days only says nothing yet of more than its own start.
    aged = [(one, load) for one, load in series if one[-1].at - one[0].at >= FIRM_FROM_S]
    wide = [binned(one, WIDTH_S) for one, _ in aged]
    known = [
        found
        for one, (_, load) in zip(wide, aged, strict=True)
        if (found := slope_mixture(*beside(one, load, WIDTH_S))) is not None
    ]
    if not known:
        return Judgement("cannot tell", "its processes have gaps in their readings")
    slope = together(known)
    least = max(WEEKLY_FLOOR * _levels(wide, slope.mean)[0], floor.weekly) / WEEK_S
    p = slope.at_most(least)
    shown = _shown(wide, slope.mean, p)
    if p <= WEEKLY_ALPHA * DAY_S / WEEK_S:
        return shown("grows", "it grows from day to day")
    if slope.fills > LIKELY:
        return shown("plateau", "it grew, and grows ever slower, as a cache that fills")
    if slope.follows > LIKELY:
        return shown("steady", "it follows its load, and does not surely grow beside that")
    if slope.jumps > LIKELY:
        return shown("steady", "its level has jumped, and does not surely grow beside that")
    return shown("steady", "no rise that is surely more than its noise")


def _provisional(series: Sequence[_WithLoad], floor: Floor, after_s: float) -> Judgement:
    width = max(one[-1].at - one[0].at for one, _ in series) / MOST_PROVISIONAL_POINTS
    few = [binned(one, width) for one, _ in series]
    of_enough = [
        (one, load)
        for one, (_, load) in zip(few, series, strict=True)
        if len(one) >= PROVISIONAL_POINTS and one[-1].at - one[0].at >= after_s
    ]
    enough = [one for one, _ in of_enough]
    found = trend(enough)
    if found is None:
        points = max(map(len, few))
        return Judgement(
            "cannot tell",
            f"{points} of the {PROVISIONAL_POINTS} readings that it takes",
            points=points,
        )
    shown = _shown(enough, found.slope, found.p)
    grown = shown.last - shown.first
    if grown < max(PROVISIONAL_FLOOR * shown.first, floor.provisional):
        return shown("steady", "no rise to speak of since its start")
    if not _goes_on(enough):
        return shown("plateau", "it grew after its start, and grows ever slower")
    if found.p > PROVISIONAL_ALPHA:
        return shown("steady", "no rise beyond chance since its start")
    if explains([beside(one, load, width) for one, load in of_enough]):
        return shown("steady", "it grew with its load, and follows that more closely than time")
    return shown("grows provisionally", "it grows since its start; firm after three days")


@dataclass(frozen=True, slots=True)
class _Shown:
    """The numbers of a judgement, for whichever it is."""

    slope: float
    p: float
    first: float
    last: float
    points: int
    span_s: float

    def __call__(self, growth: Growth, reason: str) -> Judgement:
        return Judgement(
            growth,
            reason,
            slope=self.slope,
            p=self.p,
            first=self.first,
            last=self.last,
            points=self.points,
            span_s=self.span_s,
        )


def _shown(series: Sequence[Sequence[SeriesPoint]], slope: float, p: float) -> _Shown:
    first, last = _levels(series, slope)
    span = max(one[-1].at - one[0].at for one in series)
    return _Shown(slope, p, first, last, points=sum(map(len, series)), span_s=span)


def _levels(series: Sequence[Sequence[SeriesPoint]], slope: float) -> tuple[float, float]:
    """The mean level at first and at last."""
    levels = [_thirds(one) for one in series]
    # From the middle of the first third to the middle of the last are two thirds of the time.
    sixth = max(one[-1].at - one[0].at for one in series) / 6
    first = sum(first for first, _, _ in levels) / len(levels) - slope * sixth
    return max(first, 0.0), sum(last for _, _, last in levels) / len(levels) + slope * sixth


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
