"""Whether one series rises when another does, or a minute later, and how sure that is: pure arithmetic.

Extremes are clipped, so that one spike decides nothing; what a series' own load explains of it is taken off before;
and of series that change slowly each minute counts for less, because its neighbours in time say the same
(Bartlett 1935). CPI² (Zhang et al., EuroSys 2013) compares a victim's cycles per instruction with the CPU of
each suspect in this way, with a fixed bound in the place of a test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, erfc, sqrt

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.floating]

LEAST_MINUTES = 20
"""Of which both have to be known."""

LAGS = (0, 1)
"""Minutes by which suffering may follow: averages of PSI and rates of disks come late."""

LONGEST_MEMORY = 12
"""Minutes back to which a series may repeat itself; further away it is not looked for."""


@dataclass(frozen=True, slots=True)
class CoMovement:
    correlation: float
    p: float
    """That as much would be seen of two series that have nothing to do with each other, in this one test."""
    lag: int
    minutes: int
    quiet: float
    """What the one suffers while the other is quiet, at its median."""
    busy: float
    """And while the other is busy."""

    @property
    def effect(self) -> float:
        return self.busy - self.quiet


def co_movement(
    suffering: Values, taken: Values, others: Sequence[Values] = (), *, chance: float = 1.0
) -> CoMovement | None:
    """How *suffering* of one follows what another has *taken*, beside what it follows of *others*: its own load,
    or who is known to be in its way already.

    None: there is too little to tell, one of them does not move at all, or what is seen would be seen by more than
    *chance* of series that have nothing to do with each other.
    """
    found = None
    for lag in LAGS:
        # The better of several lags is as good as each of them is strict.
        one = _lagged(suffering, taken, others, lag, chance / len(LAGS))
        if one is not None and (found is None or one.p < found.p):
            found = one
    return found


def follows(suffering: Values, own: Values) -> bool:
    """Whether one suffers the more, the more it does itself. If it does less while it suffers, that is what comes of
    it and no reason for it."""
    return bool(correlations(suffering[None, :], own[None, :])[0, 0] > 0)


def correlations(sufferings: Values, takens: Values) -> npt.NDArray[np.float64]:
    """Roughly, of all pairs at once, the larger one of all lags: what is not known counts as the middle."""
    found = np.full((len(sufferings), len(takens)), -1.0)
    for lag in LAGS:
        after = _unit(sufferings[:, lag:])
        before = _unit(takens[:, : takens.shape[1] - lag])
        found = np.maximum(found, after @ before.T)
    return found


def _unit(rows: Values) -> npt.NDArray[np.float64]:
    known = ~np.isnan(rows)
    found = np.zeros(rows.shape)
    for number, (row, is_known) in enumerate(zip(rows, known, strict=True)):
        moved = row[is_known]
        if len(moved):
            moved = clipped(moved.astype(np.float64))
            moved = moved - moved.mean()
            found[number, is_known] = moved / max(sqrt(float(moved @ moved)), 1e-9)
    return found


def _lagged(
    suffering: Values, taken: Values, others: Sequence[Values], lag: int, chance: float
) -> CoMovement | None:
    after = suffering[lag:].astype(np.float64)
    before = taken[: len(taken) - lag].astype(np.float64)
    loads = [one[lag:].astype(np.float64) for one in others]
    known = ~(np.isnan(after) | np.isnan(before))
    for load in loads:
        known &= ~np.isnan(load)
    minutes = int(np.count_nonzero(known))
    if minutes < LEAST_MINUTES:
        return None
    y, x = after[known], before[known]
    moved_y, moved_x = clipped(y), clipped(x)
    if loads:
        moved_loads = np.stack([clipped(load[known]) for load in loads])
        moved_y, moved_x = _rests(np.stack([moved_y, moved_x]), moved_loads)
    r = _correlation(moved_y, moved_x)
    if r is None or r <= 0:
        return None if chance < 1 or r is None else _found(r, 1.0, lag, y, x)
    # Nothing of real series is certain: a bound keeps atanh finite.
    z = atanh(min(r, 0.999))
    fixed = 3 + len(loads)
    if _tail(z, minutes - fixed) > chance:
        # With every minute for its own: there are not more of them.
        return None
    p = _tail(z, effective(moved_y, moved_x) - fixed)
    return _found(r, p, lag, y, x) if p <= chance else None


def _tail(z: float, degrees: float) -> float:
    return 0.5 * erfc(z * sqrt(degrees) / sqrt(2)) if degrees > 0 else 0.5


def _found(r: float, p: float, lag: int, y: Values, x: Values) -> CoMovement:
    middle = float(np.median(x))
    is_busy = x > middle
    if not is_busy.any():
        is_busy = x >= middle
    quiet = y[~is_busy]
    return CoMovement(
        correlation=r,
        p=p,
        lag=lag,
        minutes=len(y),
        quiet=float(np.median(quiet)) if len(quiet) else float(y.min()),
        busy=float(np.median(y[is_busy])),
    )


def effective(one: Values, other: Values) -> float:
    """How many independent minutes two series are worth."""
    count = len(one)
    lags = min(LONGEST_MEMORY, count // 4)
    both = 1.0
    products = _repeating(one, lags) * _repeating(other, lags)
    for lag, product in enumerate(products.tolist(), 1):
        if product <= 0:
            break
        both += 2 * (1 - lag / count) * product
    return count / both


def _repeating(values: Values, lags: int) -> npt.NDArray[np.float64]:
    """By how much it repeats itself 1, 2, … *lags* minutes later."""
    centred = values - values.mean()
    found = np.correlate(centred, centred, "full")[len(values) - 1 : len(values) + lags]
    rest: npt.NDArray[np.float64] = found[1:] / max(float(found[0]), 1e-12)
    return rest


def clipped(values: Values) -> npt.NDArray[np.float64]:
    """*values* without their extremes: three minutes of an hour on either side."""
    ordered = np.sort(values)
    edge = len(ordered) // 20
    found: npt.NDArray[np.float64] = np.clip(values, ordered[edge], ordered[-1 - edge])
    return found


def _rests(
    several: npt.NDArray[np.float64], loads: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What straight lines over *loads* leave of two series, by modified Gram-Schmidt: it forgives loads that say the
    same."""
    centred = several - several.mean(axis=1, keepdims=True)
    basis: list[npt.NDArray[np.float64]] = []
    for load in loads:
        rest = load - load.mean()
        size = float(rest @ rest)
        for one in basis:
            rest = rest - (rest @ one) * one
        left = float(rest @ rest)
        if left > 1e-9 * max(size, 1.0):
            basis.append(rest / sqrt(left))
    for one in basis:
        centred = centred - np.outer(centred @ one, one)
    return centred[0], centred[1]


def _correlation(one: Values, other: Values) -> float | None:
    first, second = one - one.mean(), other - other.mean()
    spread = sqrt(float((first**2).sum()) * float((second**2).sum()))
    if spread <= 1e-9 * len(one):
        return None
    return float((first * second).sum()) / spread
