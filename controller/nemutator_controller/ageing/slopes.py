"""How fast a series grows, beside everything else that moves it.

Memory also moves by the hour of the day, jumps when load comes or goes, and rises while a cache fills, and its
neighbouring readings resemble each other. Each of these is a column of a linear model, or a correlation of its
noise, that may be there or not. All combinations are weighed by how well they explain the readings (their
marginal likelihood, with restricted maximum likelihood for the correlation), and what is known of the slope is
the mixture of what each of them says. So a jump takes the evidence for a leak away where it explains as much,
and a leak beside a jump is still seen. The same holds for the load, where it is known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nemutator_controller.ageing.trends import DAY_S, SeriesPoint

WIDTH_S = DAY_S / 6
"""Of a point: what happens within four hours is noise here."""

LEAST_POINTS = 12

CORRELATIONS = np.array([0.0, 0.3, 0.55, 0.7, 0.8, 0.87, 0.92, 0.955])
"""Of neighbouring points; all are as likely beforehand."""

FILLING_S = np.array([1 / 6, 0.5, 1.0, 1.75]) * DAY_S
"""Within which a cache has come to two thirds of its size."""

FILLS = 0.5
JUMPS = 0.3
"""How likely a cache, and a (further) jump, are beforehand."""

USUAL_JUMP = 0.5
"""Of the level: the standard deviation of jumps beforehand; that of caches is the level."""

FOLLOWS = 0.5
"""How likely it is beforehand that the level follows the load, as far as it is known; the standard deviation
of what an average load takes is the level."""

SURE = 0.97
MOST_JUMPS = 3
"""Jumps that are so sure are taken out; of one more, each place is weighed."""

LEAST_WEIGHT = 1e-6
MOST_MODELS = 48
"""Of one process, where several are put together."""

QUIETEST = 1e-4
"""Of the level: noise is never thought to be smaller."""

Numbers = NDArray[np.float64]

_BASE, _CACHES = slice(2, 6), slice(6, 6 + len(FILLING_S))
_JUMPING = slice(_CACHES.stop, None)
"""Of the columns, after values and time."""

_TINY = 1e-6
_normal = NormalDist()
_PLACES = np.linspace(-8.0, 8.0, 3_201)
_BELOW = np.array([_normal.cdf(float(place)) for place in _PLACES])


@dataclass(frozen=True, slots=True)
class SlopeMixture:
    """What is known of a slope (per second): one normal distribution for each model."""

    weights: Numbers
    means: Numbers
    deviations: Numbers
    jumps: float
    """How likely it is that the level has jumped."""
    fills: float
    """How likely it is that a cache has filled."""
    follows: float = 0.0
    """How likely it is that the level follows the load."""

    @property
    def mean(self) -> float:
        return float(self.weights @ self.means)

    @property
    def variance(self) -> float:
        return float(self.weights @ (self.deviations**2 + (self.means - self.mean) ** 2))

    def at_most(self, slope: float) -> float:
        """The probability that it is not above *slope*."""
        places = (slope - self.means) / self.deviations
        return float(self.weights @ np.interp(places, _PLACES, _BELOW))


def slope_mixture(
    points: Sequence[SeriesPoint], load: Sequence[float] | None = None
) -> SlopeMixture | None:
    """What *points*, about one for each `WIDTH_S`, say of their slope; None for too few.

    *load*, where it is known: how much there was to do, in any unit, one for each point.
    """
    if len(points) < LEAST_POINTS:
        return None
    at, values = np.array(points, dtype=np.float64).T
    level = float(np.median(np.abs(values))) or 1.0
    since = at - at[0]
    jumps_at = np.arange(2, len(at) - 1)
    angle = 2 * math.pi * at / DAY_S
    columns = np.column_stack(
        [
            values / level - values[0] / level,
            (since - since.mean()) / DAY_S,
            np.ones(len(at)),
            np.sin(angle),
            np.cos(angle),
            np.sin(2 * angle),
            np.exp(-since[:, None] / FILLING_S),
            (np.arange(len(at))[:, None] >= jumps_at).astype(np.float64),
        ]
    )
    usual = sum(load) / len(load) if load else 0.0
    if load and usual > 0:
        columns = np.column_stack([columns, np.array(load) / usual])
    gaps = np.maximum(np.diff(at) / WIDTH_S, 0.5)
    white, shrunk = _whitened(columns, gaps)
    width = _JUMPING.start + len(jumps_at)
    found = _weighed(white[:, :, :width], shrunk, white[:, :, width:])
    unit = level / DAY_S
    return replace(found, means=found.means * unit, deviations=found.deviations * unit)


def together(mixtures: Sequence[SlopeMixture]) -> SlopeMixture:
    """The mean slope of several processes, in which those count most whose slope is known best."""
    precision = np.array([1 / one.variance for one in mixtures])
    shares = precision / precision.sum()
    sum_of_them = _fewer(mixtures[0], shares[0])
    for one, share in zip(mixtures[1:], shares[1:], strict=True):
        more = _fewer(one, share)
        sum_of_them = _fewer(
            SlopeMixture(
                np.outer(sum_of_them.weights, more.weights).ravel(),
                np.add.outer(sum_of_them.means, more.means).ravel(),
                np.hypot.outer(sum_of_them.deviations, more.deviations).ravel(),
                jumps=max(sum_of_them.jumps, more.jumps),
                fills=max(sum_of_them.fills, more.fills),
                follows=max(sum_of_them.follows, more.follows),
            )
        )
    return sum_of_them


def _fewer(mixture: SlopeMixture, share: float = 1.0) -> SlopeMixture:
    """*share* times the slope, with neighbouring distributions put together as one of the same mean and
    variance."""
    weights, means, deviations = mixture.weights, mixture.means, mixture.deviations
    if len(weights) > MOST_MODELS:
        reach = means.max() - means.min()
        place = np.minimum((means - means.min()) / (reach or 1.0) * MOST_MODELS, MOST_MODELS - 1)
        where = place.astype(np.int64)
        moments = np.stack([np.ones_like(means), means, deviations**2 + means**2])
        merged = np.stack([np.bincount(where, weights * one, MOST_MODELS) for one in moments])
        sums, firsts, squares = merged[:, merged[0] > 0]
        middle = firsts / sums
        variances = np.maximum(squares / sums - middle**2, deviations.min() ** 2)
        weights, means, deviations = sums, middle, np.sqrt(variances)
    return replace(
        mixture,
        weights=weights / weights.sum(),
        means=means * share,
        deviations=deviations * share,
    )


def _whitened(columns: Numbers, gaps: Numbers) -> tuple[Numbers, Numbers]:
    """*columns* as they would be without the correlation, for each of these, and the logarithm of how much
    that has stretched them."""
    along = CORRELATIONS[:, None] ** gaps
    left = np.sqrt(1 - along**2)
    white = np.empty((len(CORRELATIONS), *columns.shape))
    white[:, 0] = columns[0]
    white[:, 1:] = (columns[1:] - along[:, :, None] * columns[:-1]) / left[:, :, None]
    return white, np.log(left).sum(1)


def _weighed(white: Numbers, shrunk: Numbers, load: Numbers) -> SlopeMixture:
    plain, taken = _with_sure_jumps(white, shrunk, load[:, :, :0])
    alone = plain.mixture(has_jumped=taken > 0)
    if not load.shape[2]:
        return alone
    # A further row holds what is known of the load's weight beforehand, as an observation of it would: so a
    # load that hardly moves explains nothing, however it moves.
    row = np.zeros((len(white), 1, white.shape[2]))
    known = np.full((len(white), 1, 1), plain.noise)
    beside, also_taken = _with_sure_jumps(
        np.concatenate([white, row], axis=1), shrunk, np.concatenate([load, known], axis=1)
    )
    of_jump = math.log(JUMPS / (white.shape[2] - _JUMPING.start) / USUAL_JUMP)
    of_jump -= math.log(white.shape[1]) / 2
    odds = math.log(FOLLOWS / (1 - FOLLOWS)) + math.log(plain.noise)
    odds += beside.evidence - plain.evidence + (also_taken - taken) * of_jump
    follows = 1 / (1 + math.exp(-min(max(odds, -500.0), 500.0)))
    return _mixed(alone, beside.mixture(has_jumped=also_taken > 0), follows)


def _with_sure_jumps(white: Numbers, shrunk: Numbers, load: Numbers) -> "tuple[_Models, int]":
    """The models beside all jumps that are sure, and how many those are."""
    taken: list[int] = []
    while True:
        models = _models(white, shrunk, taken, load)
        if len(taken) == MOST_JUMPS or models.jumped < SURE:
            return models, len(taken)
        taken.append(models.where)


def _mixed(alone: SlopeMixture, beside: SlopeMixture, follows: float) -> SlopeMixture:
    """*beside* the load, which is so likely, or without it."""
    shares = 1 - follows, follows
    return SlopeMixture(
        np.concatenate([alone.weights * shares[0], beside.weights * shares[1]]),
        np.concatenate([alone.means, beside.means]),
        np.concatenate([alone.deviations, beside.deviations]),
        jumps=alone.jumps * shares[0] + beside.jumps * shares[1],
        fills=alone.fills * shares[0] + beside.fills * shares[1],
        follows=follows,
    )


@dataclass(frozen=True, slots=True)
class _Models:
    """By correlation, by cache (the first: none) and by jump (the first: none)."""

    weights: Numbers
    slopes: Numbers
    variances: Numbers
    evidence: float
    """The logarithm of how well all of them explain the values."""
    noise: float
    """The standard deviation of what the likeliest leaves unexplained, in parts of the level."""

    @property
    def jumped(self) -> float:
        return float(self.weights[:, :, 1:].sum())

    @property
    def where(self) -> int:
        return int(self.weights[:, :, 1:].sum((0, 1)).argmax())

    def mixture(self, *, has_jumped: bool) -> SlopeMixture:
        chosen = self.weights > LEAST_WEIGHT
        weights = self.weights[chosen]
        return SlopeMixture(
            weights / weights.sum(),
            self.slopes[chosen],
            np.sqrt(self.variances[chosen]),
            jumps=1.0 if has_jumped else self.jumped,
            fills=float(self.weights[:, 1:].sum()),
        )


def _models(white: Numbers, shrunk: Numbers, taken: Sequence[int], load: Numbers) -> _Models:
    """Those with *load* and the jumps that are *taken*: what each says of the slope, and how likely it is."""
    jumping = white[:, :, _JUMPING]
    base = np.concatenate([white[:, :, _BASE], jumping[:, :, list(taken)], load], axis=2)
    points, known = base.shape[1:]
    orthogonal, triangle = np.linalg.qr(base)
    stretch = np.log(np.abs(np.diagonal(triangle, axis1=1, axis2=2)) + _TINY).sum(1) + shrunk

    # What is left of each column beside the base, and the products of that, first without a cache.
    left = white - orthogonal @ (orthogonal.swapaxes(1, 2) @ white)
    caches = left[:, :, _CACHES]
    size = np.maximum((caches**2).sum(1), _TINY)
    of_caches = caches.swapaxes(1, 2) @ left
    # A product beside a cache is less by what both have of it: axes are correlation, cache, columns.
    by_two = np.concatenate([left[:, :, :2], left[:, :, _JUMPING]], axis=2)
    cache_two = np.concatenate([of_caches[:, :, :2], of_caches[:, :, _JUMPING]], axis=2)

    def product(one: int) -> Numbers:
        """Of column *one* with values, time, and each jump."""
        plain = (by_two[:, :, one, None] * by_two).sum(1)
        beside = cache_two[:, :, one, None] * cache_two / size[:, :, None]
        return np.concatenate([plain[:, None], plain[:, None] - beside], axis=1)

    of_values, of_time = product(0), product(1)
    squares = (by_two[:, :, 2:] ** 2).sum(1)[:, None]
    jumps = np.concatenate([squares, squares - cache_two[:, :, 2:] ** 2 / size[:, :, None]], axis=1)

    value, rise, value_jump = of_values[:, :, :1], of_values[:, :, 1:2], of_values[:, :, 2:]
    time, time_jump = np.maximum(of_time[:, :, 1:2], _TINY), of_time[:, :, 2:]
    least = points * QUIETEST**2
    slope = rise / time
    rest = np.maximum(value - rise * slope, least)
    jump_left = jumps - time_jump**2 / time
    is_new = jump_left > _TINY
    jump_left = np.maximum(jump_left, _TINY)
    size_of_jump = (value_jump - time_jump * slope) / jump_left
    rest_beside = np.maximum(rest - size_of_jump**2 * jump_left, least)

    has_cache = (np.arange(1 + len(FILLING_S)) > 0)[None, :, None]
    free = points - known - 1 - has_cache
    cache_size = np.concatenate([np.ones((len(white), 1)), size], axis=1)[:, :, None]
    plain = (
        np.where(
            has_cache, math.log(FILLS / len(FILLING_S)) - np.log(free) / 2, math.log(1 - FILLS)
        )
        - stretch[:, None, None]
        - (np.log(cache_size) + np.log(time)) / 2
    )
    none = plain + math.log(1 - JUMPS) - free / 2 * np.log(rest)
    each = (
        plain
        + math.log(JUMPS / jumps.shape[2] / USUAL_JUMP)
        - (np.log(jump_left) + np.log(free - 1) + (free - 1) * np.log(rest_beside)) / 2
    )
    evidence = np.concatenate([none, np.where(is_new, each, -np.inf)], axis=2)
    most = float(evidence.max())
    weights = np.exp(evidence - most)
    variance = rest / free / time
    beside = rest_beside / (free - 1) * (1 / time + (time_jump / time) ** 2 / jump_left)
    return _Models(
        weights / weights.sum(),
        np.concatenate([slope, slope - size_of_jump * time_jump / time], axis=2),
        np.concatenate([variance, beside], axis=2),
        evidence=most + math.log(float(weights.sum())),
        noise=math.sqrt(float((rest / free).flat[none.argmax()])),
    )
