"""What is known of containers' use: what advice is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.margins import MARGINS, Margins


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What people may set of how advice is made: the knobs of KRR, with its names in brackets."""

    cpu_percentile: float = 95.0
    """Of CPU use, what is requested (`cpu_percentile`)."""
    memory_buffer: float = 18.0
    """Percent above the largest peak of two weeks (`memory_buffer_percentage`, 15 there); more with less data."""
    least_cpu_millis: int = 10
    """(`cpu_min_value`.)"""
    least_memory_mb: int = 100
    """In units of 1 000 000 bytes (`memory_min_value`)."""
    window_days: int = 14
    """Of peaks, those that count (`history_duration`)."""


DEFAULT_KNOBS = Knobs()


class KnownUsage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known of one container's use: a row of `UsageColumns`."""

    key: ContainerKey
    points: int
    span_s: float
    step_s: float
    sampled_s: float
    steps: float
    last_at: float
    cpu_p50: float
    cpu_p95: float
    memory_p95: int
    memory_max: int
    memory_needed: int = 0
    kills: int = 0
    throttled: float = 0.0
    cpu_waiting: float = 0.0
    memory_waiting: float = 0.0
    knobs: Knobs = DEFAULT_KNOBS
    margins: Margins = MARGINS

    @property
    def observed_s(self) -> float:
        return min(self.span_s, self.sampled_s)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UsageColumns:
    """What is known of the use of several containers, a number of each in each column."""

    keys: Sequence[ContainerKey]
    points: npt.NDArray[np.int64]
    span_s: Numbers
    step_s: Numbers
    """Seconds that the last point stands for."""
    sampled_s: Numbers
    """Seconds that all points stand for."""
    steps: Numbers
    """How many points of one replica the span has had room for, at its own pace. It never falls, so that nothing which
    was enough once is too little because the pace changes."""
    last_at: Numbers
    cpu_p50: Numbers
    cpu_p95: Numbers
    """The percentile that is advised by, of the busiest replica where there are several."""
    memory_p95: npt.NDArray[np.int64]
    """Of the daily peaks, exactly."""
    memory_max: npt.NDArray[np.int64]
    """The largest peak, exactly."""
    memory_needed: npt.NDArray[np.int64]
    """What kills for memory say it would have needed; 0: it was not killed."""
    kills: npt.NDArray[np.int64]
    """For memory, in the time that peaks are kept."""
    throttled: Numbers
    """The share of periods in which it was stopped at its CPU limit lately."""
    cpu_waiting: Numbers
    """The share of the time in which some of its tasks waited for a CPU lately."""
    memory_waiting: Numbers
    knobs: Knobs
    margins: Margins

    @property
    def observed_s(self) -> Numbers:
        """The time that was really seen: two points two weeks apart are not two weeks."""
        return np.asarray(np.minimum(self.span_s, self.sampled_s), dtype=np.float64)

    def rows(self) -> list[KnownUsage]:
        columns = (getattr(self, name).tolist() for name in _COLUMNS)
        known = zip(self.keys, zip(*columns, strict=True), strict=True)
        return [self._row(key, dict(zip(_COLUMNS, row, strict=True))) for key, row in known]

    def _row(self, key: ContainerKey, figures: Mapping[str, Any]) -> KnownUsage:
        return KnownUsage(key=key, knobs=self.knobs, margins=self.margins, **figures)


_COLUMNS = tuple(
    name for name in KnownUsage.__struct_fields__ if name not in ("key", "knobs", "margins")
)
