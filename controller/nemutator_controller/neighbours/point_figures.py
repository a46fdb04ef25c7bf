"""What containers took and waited for, point by point, of what was reported of them."""

import numpy as np

from nemutator_controller.ingest.points_together import PointsTogether
from nemutator_controller.ingest.usage_points import Numbers

GIB, MB = float(1 << 30), 1e6


def values_of(points: PointsTogether) -> list[Numbers | None]:
    """Of each figure, in their order; None: nothing is known of it, as of waiting where the kernel does not measure it."""

    def share(name: str) -> Numbers | None:
        percent = points.known(name)
        return None if percent is None else np.clip(percent / 100, 0.0, 1.0)

    memory, waiting = points.known("memory_bytes"), share("memory_waiting")
    kills = points.known("oom_kills")
    if kills is not None and (kills > 0).any():
        waiting = np.where(kills > 0, 1.0, np.nan if waiting is None else waiting)
    return [
        points.known("cpu_cores"),
        None if memory is None else memory / GIB,
        _sum(points.known("disk_read"), points.known("disk_written")),
        _sum(points.known("network_received"), points.known("network_sent")),
        _cpu_waiting(points),
        waiting,
        share("disk_waiting"),
        _turn_waiting(points),
    ]


def _cpu_waiting(points: PointsTogether) -> Numbers | None:
    delay, waiting = points.known("run_delay"), points.known("cpu_waiting")
    if delay is None and waiting is None:
        return None
    delayed = np.full(len(points), np.nan)
    if delay is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of the time in which it could run, the part in which it had no CPU.
            delayed = np.where(delay > 0, delay / (delay + points.column("cpu_cores")), delay)
    if waiting is not None:
        delayed = np.fmax(delayed, waiting / 100)
    throttled = points.known("throttled")
    # A group that its own limit stops waits for nobody else.
    own = 1.0 if throttled is None else 1.0 - np.where(np.isnan(throttled), 0.0, throttled)
    return np.clip(delayed * own, 0.0, 1.0)


def _turn_waiting(points: PointsTogether) -> Numbers | None:
    longest, throttled = points.known("run_delay_p99"), points.known("throttled")
    if longest is None or throttled is None:
        return longest
    # One turn that its own limit stops is longer than any that others make it wait for.
    return np.where(throttled > 0, np.nan, longest)


def _sum(one: Numbers | None, other: Numbers | None) -> Numbers | None:
    """What is known of both, in MB."""
    if one is None or other is None:
        alone = one if other is None else other
        return None if alone is None else alone / MB
    found: Numbers = np.where(np.isnan(one), other, np.where(np.isnan(other), one, one + other))
    return found / MB
