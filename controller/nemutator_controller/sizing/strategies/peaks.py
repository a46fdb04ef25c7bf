"""Memory as advice gives it: the largest peak of two weeks, and a margin that shrinks as more is known."""

import numpy as np

from nemutator_controller.sizing.margins import memory_margins
from nemutator_controller.sizing.strategies.recorded_use import HOUR_S, Numbers, RecordedUse

WINDOW_HOURS = 336
BUFFER = 18.0
LEAST_BYTES = 100e6


def memory(use: RecordedUse, buffer: float = BUFFER) -> Numbers:
    """Bytes to request and to limit in each hour, from the hours before."""
    peaks = np.fmax.reduce(use.busiest(), axis=1)
    wanted = np.full(use.hours, np.nan)
    margins = memory_margins(HOUR_S * np.arange(use.hours, dtype=np.float64), buffer=buffer)
    for hour in range(1, use.hours):
        before = peaks[max(0, hour - WINDOW_HOURS) : hour]
        if not np.isnan(before).all():
            peak = float(np.nanmax(before))
            wanted[hour] = max(LEAST_BYTES, peak * margins[hour])
    return wanted
