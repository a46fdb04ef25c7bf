"""What is requested hour by hour, with no more changes than a container may have in a day."""

from collections import deque

import numpy as np
import numpy.typing as npt

from nemutator_controller.daily_changes import may_change
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers

NONE_YET = -1
Millis = npt.NDArray[np.int64]


def in_millis(requested: Numbers) -> Millis:
    """Cores in whole thousandths, rounded up; `NONE_YET` where nothing is said."""
    # Rounded up, but for what is left of arithmetic.
    millis = np.ceil(np.round(requested * 1_000, 6))
    return np.where(np.isnan(millis), NONE_YET, millis).astype(np.int64)


def with_few_changes(wanted: Millis) -> Millis:
    """*wanted* by the hour, but changed in 24 hours only as often as it may be: what comes beyond waits."""
    given: list[int] = wanted.tolist()
    changed: deque[int] = deque()
    for hour in range(1, len(given)):
        before, now = given[hour - 1], given[hour]
        if now == before or before == NONE_YET:
            continue
        while changed and changed[0] <= hour - DAY_HOURS:
            changed.popleft()
        if may_change(len(changed), rises=now > before):
            changed.append(hour)
        else:
            given[hour] = before
    return np.array(given, dtype=np.int64)
