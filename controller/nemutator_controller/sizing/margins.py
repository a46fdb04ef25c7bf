"""How much is added to the largest peak of memory: the more, the less is known."""

import numpy as np

from nemutator_controller.sizing.buckets import Numbers

Margins = tuple[tuple[int, float], ...]
"""By seconds of data, the longest first, how many times the buffer is added."""

MARGINS: Margins = (
    (14 * 86_400, 1.0),
    (7 * 86_400, 1.5),
    (4 * 86_400, 1.95),
    (2 * 86_400, 2.5),
    (86_400, 3.11),
    (12 * 3_600, 4.6),
    (6 * 3_600, 6.4),
    (3 * 3_600, 8.5),
    (3_600, 12.5),
    (0, 16.7),
)
"""With 18 % that is 1.18 after 14 days, 1.56 after one and 4.0 after 25 minutes, which 2 % of steady series exceeded
within the day after. In steps, so that advice does not change with each look."""


def memory_margins(observed_s: Numbers, *, buffer: float, margins: Margins = MARGINS) -> Numbers:
    """What the largest peak of each is multiplied by, after so many seconds of data."""
    least_s = np.array([least_s for least_s, _ in reversed(margins)], dtype=np.float64)
    times = np.array([1 + times * buffer / 100 for _, times in reversed(margins)])
    return np.asarray(times[np.searchsorted(least_s, observed_s, side="right") - 1])
