"""How much is added to the largest peak of memory: the more, the less is known."""

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


def memory_margin(observed_s: float, *, buffer: float, margins: Margins = MARGINS) -> float:
    """What the largest peak is multiplied by, after so many seconds of data."""
    for least_s, times in margins:
        if observed_s >= least_s:
            return 1 + times * buffer / 100
    raise ValueError(f"{observed_s} s were not observed")
