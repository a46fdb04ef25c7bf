"""Whether a series rises, and how fast, by statistics that outliers do not mislead.

Several series are one question when they belong to one workload: pairs are compared within a series (the
regional Kendall test of Helsel and Frans). Neighbours in time resemble each other, so the variance of the
test is multiplied by what an autoregressive process of the residuals' correlation would need.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist, median
from typing import NamedTuple

DAY_S = 86_400.0

LEAST_CORRELATED = 10
"""Points from which on their correlation is estimated; of fewer it is noise."""

HIGHEST_CORRELATION = 0.98

NEGLIGIBLE = 0.02

NORMAL = NormalDist()


class SeriesPoint(NamedTuple):
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    slope: float
    """Per second: the median of the slopes of all pairs (Theil and Sen)."""
    z: float
    """Mann and Kendall's, corrected for correlation; above 0 it rises."""

    @property
    def p(self) -> float:
        """The probability of so much rise by chance."""
        return NORMAL.cdf(-self.z)


def trend(series: Sequence[Sequence[SeriesPoint]]) -> Trend | None:
    """The trend that *series* share; None when no two points of them can be compared."""
    score, variance, slopes = 0, 0.0, list[float]()
    for one in series:
        for earlier, later in combinations(one, 2):
            score += (later.value > earlier.value) - (later.value < earlier.value)
            if later.at > earlier.at:
                slopes.append((later.value - earlier.value) / (later.at - earlier.at))
        variance += _variance([point.value for point in one])
    if not slopes:
        return None
    slope = median(slopes)
    span = max(one[-1].at - one[0].at for one in series if one)
    factor = _inflation([_residuals(one, slope) for one in series], rise=abs(slope) * span)
    toward_zero = (score > 0) - (score < 0)
    return Trend(
        slope=slope,
        z=(score - toward_zero) / math.sqrt(variance * factor) if variance > 0 else 0.0,
    )


def _variance(values: Sequence[float]) -> float:
    """Of Kendall's score when nothing rises, with ties."""

    def term(count: int) -> float:
        return count * (count - 1) * (2 * count + 5) / 18

    ties: dict[float, int] = {}
    for value in values:
        ties[value] = ties.get(value, 0) + 1
    return term(len(values)) - sum(term(count) for count in ties.values())


def _residuals(points: Sequence[SeriesPoint], slope: float) -> list[float]:
    left = [value - slope * (at - points[0].at) for at, value in points]
    usual = median(left) if left else 0.0
    return [value - usual for value in left]


def _inflation(series: Sequence[Sequence[float]], *, rise: float) -> float:
    """The factor by which correlation of neighbours makes the variance larger; at least 1.

    What remains beside a much larger *rise* decides nothing, however it is correlated.
    """
    count = sum(map(len, series))
    square = sum(value * value for one in series for value in one)
    if count < LEAST_CORRELATED or math.sqrt(square / count) <= NEGLIGIBLE * rise:
        return 1.0
    along = sum(a * b for one in series for a, b in pairwise(one))
    # A fitted line takes part of the correlation away; this gives it back (Kendall, Marriott, Pope).
    correlation = (count * along / square + 2) / (count - 4)
    correlation = min(max(correlation, 0.0), HIGHEST_CORRELATION)
    return (1 + correlation) / (1 - correlation)
