"""Functions whose share of CPU time has grown between the first days of an image and the last one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_controller.ageing.trends import DAY_S, NORMAL

WARM_UP_S = 3600.0
"""Left out at the beginning: caches are cold, code is loaded."""

LEAST_WINDOWS = 8
LEAST_SAMPLES = 30
LEAST_GROWTH = 0.02
"""Of the share: two points."""

ALPHA = 0.001
"""The share of false ones among those that are named (Benjamini and Hochberg)."""


@dataclass(frozen=True, slots=True)
class FunctionWindow:
    at: float
    samples: int
    functions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GrownFunction:
    function: str
    before: float
    after: float
    p: float


def grown(windows: Sequence[FunctionWindow], *, now: float) -> list[GrownFunction]:
    """Those that grew, the largest growth first; none while there are too few windows."""
    used = sorted((one for one in windows if one.samples), key=lambda one: one.at)
    if not used:
        return []
    begin = used[0].at + WARM_UP_S
    before = [one for one in used if begin <= one.at < begin + DAY_S]
    after = [one for one in used if one.at >= max(now - DAY_S, begin + DAY_S)]
    if min(len(before), len(after)) < LEAST_WINDOWS:
        return []
    tested = [
        change
        for function in {name for one in after for name in one.functions}
        if (change := _change(function, before, after)) is not None
    ]
    tested.sort(key=lambda one: one.p)
    named = 0
    for rank, change in enumerate(tested, start=1):
        if change.p <= ALPHA * rank / len(tested):
            named = rank
    chosen = [one for one in tested[:named] if one.after - one.before >= LEAST_GROWTH]
    return sorted(chosen, key=lambda one: one.before - one.after)


def _change(
    function: str, before: Sequence[FunctionWindow], after: Sequence[FunctionWindow]
) -> GrownFunction | None:
    if sum(one.functions.get(function, 0) for one in after) < LEAST_SAMPLES:
        return None
    first, first_error = _share(function, before)
    last, last_error = _share(function, after)
    error = math.hypot(first_error, last_error)
    p = NORMAL.cdf(-(last - first) / error) if error > 0 else 1.0
    return GrownFunction(function, first, last, p)


def _share(function: str, windows: Sequence[FunctionWindow]) -> tuple[float, float]:
    """The share, and its standard error by the variance between windows: samples of one window resemble
    each other more than a binomial distribution knows."""
    total = sum(one.samples for one in windows)
    share = sum(one.functions.get(function, 0) for one in windows) / total
    count = len(windows)
    between = sum((one.functions.get(function, 0) - share * one.samples) ** 2 for one in windows)
    overdispersed = math.sqrt(between * count / (count - 1)) / total
    binomial = math.sqrt(max(share * (1 - share), 1 / total) / total)
    return share, max(overdispersed, binomial)
