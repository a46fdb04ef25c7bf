"""What the first nemutator asked of Prometheus: the average and a tenth to request, the maximum and a third
to limit."""

import numpy as np

from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

REQUEST_TIMES = 1.1
LIMIT_TIMES = 1.33


def request(use: RecordedUse, times: float = REQUEST_TIMES) -> Numbers:
    """Cores to request in each hour: *times* the average of the busiest pod so far."""
    hourly = use.hourly()
    seen = np.cumsum(np.count_nonzero(~np.isnan(hourly), axis=2), axis=1)
    sums = np.cumsum(np.nansum(hourly, axis=2), axis=1)
    averages = np.where(seen > 0, sums / np.maximum(seen, 1), np.nan)
    return _from_the_hour_before(np.fmax.reduce(averages, axis=0) * times)


def limit(use: RecordedUse, times: float = LIMIT_TIMES) -> Numbers:
    """The limit in each hour: *times* the most that a pod has used so far."""
    return _from_the_hour_before(np.fmax.accumulate(np.fmax.reduce(use.busiest(), axis=1)) * times)


def _from_the_hour_before(known: Numbers) -> Numbers:
    return np.concatenate(([np.nan], known[:-1]))
