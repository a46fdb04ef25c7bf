"""How much of its time a container was held up: stopped at its CPU limit, or waiting for a CPU or for memory.

The highest of what its replicas say counts, and less the longer ago it was.
"""

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.histograms import Rows
from nemutator_controller.sizing.samples import UsageSamples

HALF_LIFE_S = 21_600.0
"""How long it counts."""

_MOST_HALF_LIVES = 60
"""Nothing is left after that."""


def still_counting(ago_s: Numbers, *, known: npt.NDArray[np.bool_]) -> Numbers:
    """How much of what was *known* so long ago still counts."""
    half_lives = np.clip(ago_s / HALF_LIFE_S, 0.0, _MOST_HALF_LIVES)
    return np.where(known, np.exp2(-half_lives), 0.0)


def joined(was: Numbers, shares: Numbers, starts: Rows, counting: Numbers) -> Numbers:
    """What *was* known of some rows, with *shares* of their time, of which each row's begin at one of *starts*; NaN
    is no news."""
    highest = np.fmax.reduceat(np.where(np.isnan(shares), -1.0, shares), starts)
    mixed = was * counting + np.clip(highest, 0.0, 1.0) * (1.0 - counting)
    return np.where(highest >= 0, mixed, was)


def note(
    state: npt.NDArray[np.void],
    rows: Rows,
    samples: UsageSamples,
    order: Rows,
    starts: Rows,
    last: Numbers,
) -> None:
    """Take what *samples* say into *state*, before anything else of them: *order* is that of *rows*, of which each begins
    at one of *starts* and ends with a sample at one of *last*."""
    known = state[rows]
    counting = still_counting(last - known["last_at"], known=known["points"] > 0)
    for name, shares in (
        ("throttled", samples.throttled),
        ("cpu_waiting", samples.cpu_waiting),
        ("memory_waiting", samples.memory_waiting),
    ):
        if shares is not None:
            state[name][rows] = joined(known[name], shares[order], starts, counting)
