"""What is requested hour by hour, with no more changes than a container may have in a day."""

from collections import deque

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers

MOST_CHANGES, MOST_WITH_RISES = 4, 6
"""Of one container in any 24 hours. After four nothing is lowered, and two rises may still come: in replay a request that could not
rise any more missed several times as much."""

NONE_YET = -1
Millis = npt.NDArray[np.int64]


def in_millis(requested: Numbers) -> Millis:
    """Cores in whole thousandths, rounded up; `NONE_YET` where nothing is said."""
    # Rounded up, but for what is left of arithmetic.
    millis = np.ceil(np.round(requested * 1_000, 6))
    return np.where(np.isnan(millis), NONE_YET, millis).astype(np.int64)


def with_few_changes(wanted: Millis) -> Millis:
    """*wanted* by the hour, but lowered only while it was changed less than `MOST_CHANGES` times in 24 hours, and never changed
    more than `MOST_WITH_RISES` times: what comes beyond waits."""
    given: list[int] = wanted.tolist()
    changed: deque[int] = deque()
    for hour in range(1, len(given)):
        before, now = given[hour - 1], given[hour]
        if now == before or before == NONE_YET:
            continue
        while changed and changed[0] <= hour - DAY_HOURS:
            changed.popleft()
        most = MOST_WITH_RISES if now > before else MOST_CHANGES
        if len(changed) >= most:
            given[hour] = before
        else:
            changed.append(hour)
    return np.array(given, dtype=np.int64)
