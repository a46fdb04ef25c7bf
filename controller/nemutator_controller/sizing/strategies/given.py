"""Advice as it is given, and as a SizingPolicy follows it in pods that run: its defaults, and pods that live as long as what
was recorded.

The advice is made by the same code as in the brain, from the points before each hour. Memory never becomes less, as
a policy lowers no limit. New pods would have what is advised at once; here there are none.
"""

import math
from collections.abc import Iterator

import numpy as np

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.histograms import Rows
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.known_usage import Knobs
from nemutator_controller.sizing.recommendation import NO_BOUND, BoundedColumns, recommend
from nemutator_controller.sizing.samples import UsageSamples
from nemutator_controller.sizing.strategies.recorded_use import HOUR_S, RecordedUse
from nemutator_controller.sizing.usages import Usages

PERCENTILE = 95.0
BUFFER = 18.0

SETTLED_HOURS = 12
"""Before that, pods are changed only where a request is out of the advice's bounds."""
LEAST_DIFFERENCE = 0.1
LARGEST_STEP = 2.0
"""One change at most doubles or halves."""

BEGUN_AT = 1_699_920_000.0
"""Midnight: which one makes no difference."""

_KEY = ContainerKey("replay", "Deployment", "replay", "app")
_MB = 1e6
_ANY_BYTES, _ANY_CORES = 1e6, 0.01
"""Of the resource that was not recorded."""


def cpu(use: RecordedUse, percentile: float = PERCENTILE) -> Numbers:
    """Cores to request in each hour, from the hours before; NaN as long as no advice is firm."""
    knobs = Knobs(cpu_percentile=percentile)
    return _followed((made[0] for made in _recommended(use, knobs)), use.hours) / 1_000


def memory(use: RecordedUse, buffer: float = BUFFER) -> Numbers:
    """Bytes to request and to limit."""
    knobs = Knobs(memory_buffer=buffer)
    recommended = (made[1] for made in _recommended(use, knobs, is_memory=True))
    return _followed(recommended, use.hours, never_less=True) * _MB


_Bounded = tuple[int, int, int]
"""Value, lower and upper."""


def _recommended(
    use: RecordedUse, knobs: Knobs, *, is_memory: bool = False
) -> Iterator[tuple[_Bounded, _Bounded] | tuple[None, None]]:
    """CPU and memory for each hour; None: no advice is firm."""
    usages = Usages(most=1, knobs=knobs)
    for hour, pods in enumerate(use.hourly().transpose(1, 0, 2)):
        now = BEGUN_AT + hour * HOUR_S
        seen = usages.columns([_KEY], now=now)
        made = recommend(seen, now=now) if len(seen.keys) else None
        if made is not None and made.states[0] == "firm":
            yield _bounded(made.cpu_millis), _bounded(made.memory_mb)
        else:
            yield None, None
        replicas, steps = np.nonzero(~np.isnan(pods))
        if len(replicas):
            # As they came: step after step.
            order = np.argsort(steps, kind="stable")
            replicas, steps = replicas[order], steps[order]
            from_at = np.asarray(now + steps * use.step_s, dtype=np.float64)
            used = pods[replicas, steps]
            samples = _samples(used, replicas, from_at, use.step_s, is_memory=is_memory)
            usages.learn(samples, now=now + HOUR_S)


def _bounded(columns: BoundedColumns) -> _Bounded:
    return int(columns.value[0]), int(columns.lower[0]), int(columns.upper[0])


def _samples(
    used: Numbers, replicas: Rows, from_at: Numbers, step_s: int, *, is_memory: bool
) -> UsageSamples:
    count = len(used)
    return UsageSamples(
        keys=[_KEY],
        of=np.zeros(count, dtype=np.intp),
        from_at=from_at,
        to_at=from_at + step_s,
        cpu_cores=np.full(count, _ANY_CORES) if is_memory else used,
        memory_bytes=used if is_memory else np.full(count, _ANY_BYTES),
        replicas=replicas.astype(np.int64) + 1,
        throttled=np.full(count, np.nan),
        kills=np.full(count, np.nan),
        requested=np.zeros(count),
    )


def _followed(
    recommended: Iterator[_Bounded | None], hours: int, *, never_less: bool = False
) -> Numbers:
    """What is requested in each hour; it begins with the first firm advice."""
    requested = np.full(hours, np.nan)
    now = math.nan
    for hour, bounded in enumerate(recommended):
        if bounded is not None:
            value, lower, upper = bounded
            if math.isnan(now):
                now = value
            elif _is_due(now, hour, value, lower, upper) and not (never_less and value < now):
                now = min(max(value, now / LARGEST_STEP), now * LARGEST_STEP)
        requested[hour] = now
    return requested


def _is_due(now: float, hour: int, value: int, lower: int, upper: int) -> bool:
    if now < lower or (upper != NO_BOUND and now > upper):
        return True
    return hour >= SETTLED_HOURS and abs(value - now) >= LEAST_DIFFERENCE * now
