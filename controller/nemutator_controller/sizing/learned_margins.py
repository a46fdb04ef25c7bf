"""The margin of memory by the age of the data, as this fleet needed it.

A fixed table says what limits of each age needed on series of others. What is needed here is in the peaks that are kept
of each day: after one, two, four, seven or twelve whole days, how many times their largest peak was the next day's? The
margin that two of a hundred would have exceeded takes the table's place the more, the more such days there were. It
stays within bounds of the table, and an older age never has a larger margin.

It is a pure fold of what is stored anyway, so that a brain that starts again, or another one, has the same.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.daily_peaks import DAY_S, PEAK_DAYS
from nemutator_controller.sizing.margins import MARGINS, Margins

EXCEEDED = 0.02
"""The share of days of which the peak may lie above."""

BUFFER = 0.18
"""The table's unit: how many times the buffer is added."""

LEARNED: tuple[tuple[int, int], ...] = (
    (1 * 86_400, 1),
    (2 * 86_400, 2),
    (4 * 86_400, 4),
    (7 * 86_400, 7),
    (14 * 86_400, 12),
)
"""By seconds of data in the table, the whole days that stand for it: the first and the last of two weeks are not whole."""

FEWEST_DAYS = 500
FEWEST_CONTAINERS = 50
"""With fewer, the two of a hundred would be a few bad days of a few containers."""

PRIOR_DAYS = 2_000
"""The table counts as much as so many days."""

LEAST, MOST = 0.5, 2.0
"""Times the table's."""

STEP = 0.05
LEAST_BYTES = 50e6
"""Below it the least request is more than any margin."""


LEAST_SPAN_S = 2 * DAY_S - DAY_S / 24
"""From the first point of a container to its last, so that two of its days may be whole: with fewer, nothing follows any."""


@dataclass(frozen=True, slots=True)
class AgeEvidence:
    days: int
    containers: int
    times: float
    """The buffer, that `EXCEEDED` of the days would have needed more of; NaN without any."""


def whole_days(
    largest: Numbers,
    needed: Numbers,
    days: npt.NDArray[np.int32],
    *,
    first_at: Numbers,
    last_at: Numbers,
    now: float,
) -> Numbers:
    """By container the peaks of whole days before today, the oldest first; NaN where a day was not seen from its
    beginning to its end. A kill says what was missing."""
    today = int(now // DAY_S)
    before = np.arange(today - PEAK_DAYS + 1, today)
    slots = before % PEAK_DAYS
    seen = days[:, slots] == before
    begun = (first_at // DAY_S)[:, np.newaxis] < before
    ended = (before + 1) * DAY_S - DAY_S / 24 <= last_at[:, np.newaxis]
    peaks = np.maximum(largest[:, slots], needed[:, slots])
    return np.where(seen & begun & ended, peaks, np.nan)


def evidence(peaks: Numbers, observed_days: int) -> AgeEvidence:
    """What *peaks* of `whole_days` say of the day after so many."""
    count = peaks.shape[1] - observed_days
    if count < 1 or not len(peaks):
        return AgeEvidence(0, 0, np.nan)
    # Day by day, in which numpy takes a third of the time that it takes window by window. A NaN makes it NaN: each of
    # the days was seen.
    base, after = peaks[:, :count], peaks[:, observed_days:]
    for day in range(1, observed_days):
        base = np.maximum(base, peaks[:, day : day + count])
    told = ~np.isnan(base) & ~np.isnan(after) & (base >= LEAST_BYTES)
    ratios = after[told] / base[told]
    if not len(ratios):
        return AgeEvidence(0, 0, np.nan)
    worst = float(np.quantile(ratios, 1 - EXCEEDED, method="higher"))
    containers = int(told.any(axis=1).sum())
    return AgeEvidence(len(ratios), containers, max(0.0, worst - 1) / BUFFER)


def learned_margins(peaks: Numbers) -> Margins:
    """The table, with what *peaks* of `whole_days` say in its place as far as that is enough."""
    found = {least_s: evidence(peaks, days) for least_s, days in LEARNED}
    larger = 0.0
    table: list[tuple[int, float]] = []
    for least_s, prior in MARGINS:
        times = _mixed(prior, found[least_s]) if least_s in found else prior
        # The first is the oldest.
        larger = max(larger, times)
        table.append((least_s, larger))
    return tuple(table)


def _mixed(prior: float, said: AgeEvidence) -> float:
    if said.days < FEWEST_DAYS or said.containers < FEWEST_CONTAINERS:
        return prior
    mixed = (said.times * said.days + prior * PRIOR_DAYS) / (said.days + PRIOR_DAYS)
    return round(min(max(mixed, LEAST * prior), MOST * prior) / STEP) * STEP
