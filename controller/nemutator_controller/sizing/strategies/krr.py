"""KRR's simple strategies, in the figures of Prometheus: each pod by itself, and the largest counts.

CPU is requested by a percentile of two weeks. Memory is the largest peak of two weeks and a buffer. `simple`
sets no limit of CPU; `simple_limit` requests a lower percentile and limits by a higher one.
"""

import math
from collections.abc import Callable

import numpy as np

from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

WINDOW_HOURS = 336
PERCENTILE = 95.0
LIMITED_PERCENTILE = 66.0
"""What `simple_limit` requests; above it pods use what they can get up to their limit."""
MEMORY_BUFFER = 1.15
FEWEST_POINTS = 100
LEAST_CORES = 0.01
LEAST_BYTES = 100e6


def cpu(use: RecordedUse, percentile: float = PERCENTILE) -> Numbers:
    """Cores to request in each hour, from the hours before; NaN as long as KRR would not say."""

    def of(window: Numbers) -> float:
        wanted = np.nanpercentile(window, percentile, axis=1)
        return max(LEAST_CORES, _up(float(wanted.max()), 1e-3))

    return _each_hour(use, of)


def memory(use: RecordedUse, buffer: float = MEMORY_BUFFER) -> Numbers:
    """Bytes to request and to limit in each hour."""

    def of(window: Numbers) -> float:
        return max(LEAST_BYTES, _up(float(np.nanmax(window)) * buffer, 1e6))

    return _each_hour(use, of)


def _each_hour(use: RecordedUse, of: Callable[[Numbers], float]) -> Numbers:
    wanted = np.full(use.hours, np.nan)
    for hour in range(1, use.hours):
        first = max(0, hour - WINDOW_HOURS) * use.per_hour
        window = use.pods[:, first : hour * use.per_hour]
        seen = window[~np.isnan(window).all(axis=1)]
        if np.count_nonzero(~np.isnan(seen)) >= FEWEST_POINTS:
            wanted[hour] = of(seen)
    return wanted


def _up(amount: float, unit: float) -> float:
    # A binary fraction's last digits must not cost a whole unit.
    return math.ceil(round(amount / unit, 6)) * unit
