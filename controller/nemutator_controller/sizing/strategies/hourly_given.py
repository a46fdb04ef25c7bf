"""Hourly requests as a SizingPolicy follows them in pods that run: in whole thousandths of a core, and changed so often as a
container's may be.

A policy asks for a week of hours first, which is as long as the replay judges nothing, where so much was recorded. That it
changes a pod minutes after the hour has begun, and by eleven times at once at most, is left out.
"""

from collections.abc import Sequence

import numpy as np

from nemutator_controller.sizing.strategies import hourly_cpu
from nemutator_controller.sizing.strategies.few_changes import (
    NONE_YET,
    in_millis,
    with_few_changes,
)
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse


def cpu(use: RecordedUse, price: float = hourly_cpu.PRICE) -> Numbers:
    """Cores to request in each hour, from the hours before; NaN before there was any."""
    return _given(hourly_cpu.cpu(use, price))


def cpu_of_all(uses: Sequence[RecordedUse], price: float = hourly_cpu.PRICE) -> list[Numbers]:
    """The same of each of *uses*."""
    return [_given(requested) for requested in hourly_cpu.cpu_of_all(uses, price)]


def _given(requested: Numbers) -> Numbers:
    given = with_few_changes(in_millis(requested))
    return np.where(given == NONE_YET, np.nan, given / 1_000)
