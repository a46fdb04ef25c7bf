"""From what was seen to what to ask for: the numbers of Robusta's KRR, its simple strategy.

CPU: the 95th percentile is requested, and there is no limit, because a limit takes time away that
nobody else wants. Memory: the largest peak and 15 %, requested and limited alike, because what is
lent above a request cannot be taken back. What is not known well enough is said, not guessed.
"""

import math
from dataclasses import dataclass
from typing import Literal

from nemutator_controller.sizing.usages import KnownUsage

STRATEGY = "krr-simple"

FIRM_POINTS = 100
"""KRR's: with fewer it gives no value."""

LEAST_POINTS = 8
"""With fewer there is not even a provisional value: what a start costs would be all of it."""

MEMORY_MARGIN = 1.15
LEAST_CPU_MILLIS = 10
LEAST_MEMORY_MB = 100
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Recommendation:
    state: Literal["firm", "provisional"]
    cpu_millis: int
    """To request; no limit."""
    memory_mb: int
    """To request and to limit, in units of 1 000 000 bytes, as KRR rounds."""
    reason: str
    """Why it is no more than provisional."""


@dataclass(frozen=True, slots=True)
class NotYet:
    reason: str


def recommend(seen: KnownUsage) -> Recommendation | NotYet:
    """What a container that used *seen* should ask for, or why that cannot be said yet."""
    if seen.points < LEAST_POINTS:
        wait_s = math.ceil((LEAST_POINTS - seen.points) * seen.step_s)
        return NotYet(f"{seen.points} of {LEAST_POINTS} points, ask again in {wait_s} s")
    # A hundred replicas give a hundred points at once, and all of them of the same quarter minute.
    # One step less: the first point may have been cut short.
    long_enough = seen.span_s >= (FIRM_POINTS - 1) * seen.step_s
    firm = seen.points >= FIRM_POINTS and long_enough
    span = f"{seen.points} of {FIRM_POINTS} points, over {_span(seen.span_s)}"
    return Recommendation(
        state="firm" if firm else "provisional",
        cpu_millis=max(_ceil(seen.cpu_p95 * 1000), LEAST_CPU_MILLIS),
        memory_mb=max(_ceil(seen.memory_max * MEMORY_MARGIN / _MB), LEAST_MEMORY_MB),
        reason="" if firm else span,
    )


def _ceil(amount: float) -> int:
    # A binary fraction's last digits must not cost a whole unit: 0.07 * 1000 is 70.00000000000001.
    return math.ceil(round(amount, 6))


def _span(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
