"""What containers used, as arrays, and which of it makes sense."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import CPU, MEMORY, Numbers
from nemutator_controller.sizing.daily_peaks import PEAK_DAYS
from nemutator_controller.sizing.histograms import Rows
from nemutator_controller.sizing.hottest import Replicas
from nemutator_controller.sizing.keys import ContainerKey

FORGOTTEN_S = PEAK_DAYS * 86_400.0
FUTURE_S = 300.0
"""How far an agent's clock may run ahead, as for its reports."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UsageSamples:
    """Parallel arrays with one entry for each sample, in the order in which they came."""

    keys: Sequence[ContainerKey]
    of: Rows
    """The entry of *keys* that each sample belongs to; -1 where *rows* says it."""
    from_at: Numbers
    to_at: Numbers
    cpu_cores: Numbers
    memory_bytes: Numbers
    replicas: Replicas
    """The number of the replica of each sample."""
    throttled: Numbers | None
    """NaN, or None for all, where it is not known."""
    kills: Numbers | None
    """For memory; the same where it is not known."""
    requested: Numbers
    """Bytes that the replica requested, or might use, where it was killed; 0 elsewhere, and where it is not known."""
    cpu_waiting: Numbers | None = None
    """Shares of the time (PSI) in which some of its tasks waited for a CPU; NaN, or None for all, where it is not
    known."""
    memory_waiting: Numbers | None = None
    """The same, for memory that the kernel took away or read again."""
    rows: Rows | None = None
    """The row of each sample where it is known, and -1 elsewhere."""


def are_sound(
    from_at: Numbers, to_at: Numbers, cpu_cores: Numbers, memory_bytes: Numbers, *, now: float
) -> npt.NDArray[np.bool_]:
    """Which samples can be taken in: their clock is near ours, and their numbers make sense."""
    # A comparison with NaN is false.
    return (
        (from_at < to_at)
        & (now - FORGOTTEN_S < to_at)
        & (to_at <= now + FUTURE_S)
        & (cpu_cores >= 0)
        & (cpu_cores <= CPU.largest)
        & (memory_bytes >= 0)
        & (memory_bytes <= MEMORY.largest)
    )
