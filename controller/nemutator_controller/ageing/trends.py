"""Whether a series rises, and how fast, by statistics that outliers and seasons do not mislead.

Several series are one question when they belong to one workload: pairs are compared within a series
and, with seasons, within the same hour of the day (the seasonal and regional Kendall test of Hirsch and
Slack). Neighbours in time resemble each other, so the variance of the test is multiplied by what an
autoregressive process of the residuals' correlation would need.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist, median
from typing import NamedTuple

DAY_S = 86_400.0
HOUR_S = 3_600.0

LEAST_CORRELATED = 10
"""Points from which on their correlation is estimated; of fewer it is noise."""

HIGHEST_CORRELATION = 0.98

NEGLIGIBLE = 0.02

NORMAL = NormalDist()

_MAD_TO_SIGMA = 1.4826


class SeriesPoint(NamedTuple):
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    slope: float
    """Per second: the median of the slopes of all pairs (Theil and Sen)."""
    z: float
    """Mann and Kendall's, corrected for seasons and for correlation; above 0 it rises."""
    error: float
    """The standard error of the slope, corrected in the same way."""
    effective: float
    """How many independent points the points are worth."""

    @property
    def p(self) -> float:
        """The probability of so much rise by chance."""
        return NORMAL.cdf(-self.z)

    def slope_above(self, alpha: float) -> float:
        """The slope is above this one, but for a chance of *alpha*."""
        return self.slope - _student(alpha, self.effective - 2) * self.error


def trend(series: Sequence[Sequence[SeriesPoint]], *, seasonal: bool = False) -> Trend | None:
    """The trend that *series* share; None when no two points of them can be compared."""
    score, variance, slopes = 0, 0.0, list[float]()
    for one in series:
        for stratum in _strata(one, seasonal=seasonal):
            values = [point.value for point in stratum]
            for earlier, later in combinations(stratum, 2):
                score += (later.value > earlier.value) - (later.value < earlier.value)
                if later.at > earlier.at:
                    slopes.append((later.value - earlier.value) / (later.at - earlier.at))
            variance += _variance(values)
    if not slopes:
        return None
    slope = median(slopes)
    residuals = [_residuals(one, slope, seasonal=seasonal) for one in series]
    span = max(one[-1].at - one[0].at for one in series if one)
    factor = _inflation(residuals, rise=abs(slope) * span)
    spread = sum(_spread(one) for one in series)
    sigma = _sigma(residuals)
    points = sum(map(len, series))
    toward_zero = (score > 0) - (score < 0)
    return Trend(
        slope=slope,
        z=(score - toward_zero) / math.sqrt(variance * factor) if variance > 0 else 0.0,
        error=sigma * math.sqrt(factor / spread),
        effective=points / factor,
    )


def _strata(points: Sequence[SeriesPoint], *, seasonal: bool) -> Iterator[Sequence[SeriesPoint]]:
    if not seasonal:
        yield points
        return
    hours: dict[int, list[SeriesPoint]] = {}
    for point in points:
        hours.setdefault(_hour(point), []).append(point)
    yield from hours.values()


def _hour(point: SeriesPoint) -> int:
    return int(point.at % DAY_S // HOUR_S)


def _variance(values: Sequence[float]) -> float:
    """Of Kendall's score when nothing rises, with ties."""

    def term(count: int) -> float:
        return count * (count - 1) * (2 * count + 5) / 18

    ties: dict[float, int] = {}
    for value in values:
        ties[value] = ties.get(value, 0) + 1
    return term(len(values)) - sum(term(count) for count in ties.values())


def _residuals(points: Sequence[SeriesPoint], slope: float, *, seasonal: bool) -> list[float]:
    if not points:
        return []
    left = [SeriesPoint(at, value - slope * (at - points[0].at)) for at, value in points]
    usual: dict[int, float] = {}
    for stratum in _strata(left, seasonal=seasonal):
        usual[_hour(stratum[0]) if seasonal else 0] = median(point.value for point in stratum)
    return [point.value - usual[_hour(point) if seasonal else 0] for point in left]


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


def _sigma(series: Sequence[Sequence[float]]) -> float:
    """How far residuals lie from 0: the larger of a robust and of the usual measure."""
    all_of_them = [value for one in series for value in one]
    robust = _MAD_TO_SIGMA * median(abs(value) for value in all_of_them)
    return max(robust, math.sqrt(sum(value * value for value in all_of_them) / len(all_of_them)))


def _spread(points: Sequence[SeriesPoint]) -> float:
    if not points:
        return 0.0
    centre = sum(point.at for point in points) / len(points)
    return sum((point.at - centre) ** 2 for point in points)


def _student(alpha: float, freedom: float) -> float:
    """Student's quantile, by the expansion of Cornish and Fisher."""
    z, left = NORMAL.inv_cdf(1 - alpha), max(freedom, 1.0)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / left + second / left**2 + third / left**3
