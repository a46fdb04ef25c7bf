"""From use to requests and limits: the numbers of Robusta's KRR, its simple strategy.

CPU: the 95th percentile is requested, and there is no limit, because a limit takes time away that
nobody else wants. Memory: the largest peak and 15 %, requested and limited alike, because what is
lent above a request cannot be taken back. Where too little is known, the answer is a reason and no guess.
"""

import math
from dataclasses import dataclass
from typing import Literal

from nemutator_controller.sizing.usages import KnownUsage

STRATEGY = "krr-simple"

FIRM_POINTS = 100
"""As in KRR, which gives no value with fewer."""

LEAST_POINTS = 8
"""With fewer there is not even a provisional value: it would be the cost of the start."""

AWAY_S = 300.0
"""A container without a point for so long has ended, or its agent has: agents report each minute at least."""

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
    """Why it is only provisional, and when the container was last seen once it is gone."""


@dataclass(frozen=True, slots=True)
class NotYet:
    reason: str


def recommend(seen: KnownUsage, *, now: float) -> Recommendation | NotYet:
    """What a container that used *seen* should request, or why that is not known yet."""
    away_s = now - seen.last_at
    away = f"last seen {_span(away_s)} ago" if away_s > AWAY_S else ""
    if seen.points < LEAST_POINTS:
        wait_s = math.ceil((LEAST_POINTS - seen.points) * seen.step_s)
        then = away or f"ask again in {wait_s} s"
        return NotYet(f"{seen.points} of {LEAST_POINTS} points, {then}")
    # A hundred replicas give a hundred points at once, all of the same quarter of a minute.
    # One step less: the first point may have been cut short.
    needed_s = (FIRM_POINTS - 1) * seen.step_s
    few = ""
    if seen.points < FIRM_POINTS:
        few = f"{seen.points} of {FIRM_POINTS} points, over {_span(seen.span_s)}"
    elif seen.span_s < needed_s:
        few = f"{seen.points} points of {_span(seen.span_s)}, firm after {_span(needed_s)}"
    return Recommendation(
        state="provisional" if few else "firm",
        cpu_millis=max(_ceil(seen.cpu_p95 * 1000), LEAST_CPU_MILLIS),
        memory_mb=max(_ceil(seen.memory_max * MEMORY_MARGIN / _MB), LEAST_MEMORY_MB),
        reason="; ".join(filter(None, (few, away))),
    )


def _ceil(amount: float) -> int:
    # A binary fraction's last digits must not cost a whole unit: 0.07 * 1000 is 70.00000000000001.
    return math.ceil(round(amount, 6))


def _span(seconds: float) -> str:
    # Whole units that have passed, as the command's column shows them: 5 min 40 s is 5 min.
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds / size)} {unit}"
    return f"{int(seconds)} s"
