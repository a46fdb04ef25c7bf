"""What is known of one container's use: what advice is made from."""

from dataclasses import dataclass

import msgspec

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
    """What is known of one container's use."""

    key: ContainerKey
    points: int
    span_s: float
    step_s: float
    """Seconds that its last point stands for."""
    last_at: float
    cpu_p50: float
    cpu_p95: float
    """The percentile that is advised by, of the busiest replica where there are several."""
    memory_p95: int
    """Of the daily peaks, exactly."""
    memory_max: int
    """The largest peak, exactly."""
    memory_needed: int = 0
    """What kills for memory say it would have needed; 0: it was not killed."""
    kills: int = 0
    """For memory, in the time that peaks are kept."""
    throttled: float = 0.0
    """The share of periods in which it was stopped at its CPU limit lately."""
    cpu_waiting: float = 0.0
    """The share of the time in which some of its tasks waited for a CPU lately."""
    memory_waiting: float = 0.0
    knobs: Knobs = DEFAULT_KNOBS
    margins: Margins = MARGINS

    @property
    def observed_s(self) -> float:
        """The time that was really seen: two points two weeks apart are not two weeks."""
        return min(self.span_s, self.points * self.step_s)
