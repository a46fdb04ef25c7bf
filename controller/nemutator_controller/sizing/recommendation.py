"""From use to requests and limits, and how sure that is.

CPU: a percentile is requested, of the busiest replica, and there is no limit, because a limit takes time away
that nobody else wants. Memory: the largest peak and a margin, requested and limited alike, because what is lent
above a request cannot be taken back. The margin is the larger the less is known: of limits that were set after
25 minutes by KRR's 15 %, most would have killed within a day. Where too little is known, the answer is a
reason and no guess.
"""

import functools
import math
from dataclasses import dataclass
from typing import Literal

import msgspec

from nemutator_controller.sizing.known_usage import KnownUsage
from nemutator_controller.sizing.margins import memory_margin

STRATEGY = "nemutator"

FIRM_POINTS = 100
"""As in KRR, which gives no value with fewer."""

LEAST_POINTS = 8
"""With fewer there is not even a provisional value: it would be the cost of the start."""

AWAY_S = 300.0
"""A container without a point for so long has ended, or its agent has: agents report each minute at least."""

LIMIT_AFTER_S = 86_400.0
"""A day has the peaks of a day; from less, no limit of memory is set."""

KILLED_MARGIN = 1.15
"""Above what a kill says was needed: VPA's."""

THROTTLED_STEP = 0.05
MOST_THROTTLED = 0.5
"""What is stopped at its limit in half of all periods may need twice as much, or any amount: more is known
only after it has got that."""

WAITED_LEAST = 0.1
"""Of the time, in which some of its tasks waited for a CPU: below it that is what several threads do to each other."""
WAITED_STEP = 0.05
MOST_WAITED = 0.5

PRESSED_LEAST = 0.1
"""Of the time, in which it waited for memory: what was taken away from it is missing in its peaks."""
PRESSED_RATIO = 1.2
"""Then it needs a fifth more than it had, as after a kill."""

KILLED_CONFIDENCE = 0.5
_MB = 1_000_000


# Structs: of 20 000 containers there are 60 000 of these at once, which a dataclass takes ten times as long
# to make, and the garbage collector need not look at them.
class BoundedAmount(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is advised of one resource, and between which amounts what is requested can stay."""

    value: int
    lower: int
    upper: int
    confidence: float
    """From 0 to 1: what is known in days, d, as d / (d + 1); less where it was kept from what it needs, or waited for
    it."""


class Recommendation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    state: Literal["firm", "provisional"]
    cpu_millis: BoundedAmount
    """To request; no limit."""
    memory_mb: BoundedAmount
    """To request, in units of 1 000 000 bytes, as KRR rounds."""
    limits_memory: bool
    """Whether that is the limit, too."""
    memory_margin: float
    """What the largest peak is multiplied by at least."""
    reason: str
    """Why it is only provisional, has no limit or is more than was used, and when it was last seen once
    it is gone."""


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
    observed_s, held, waited = seen.observed_s, _held(seen.throttled), _waited(seen.cpu_waiting)
    limits = observed_s >= LIMIT_AFTER_S
    young = "" if limits or few else _young(int(observed_s))
    # Who is stopped at a limit waits, too: that is told once.
    waits = _waits(waited) if waited > held else ""
    pressed = _pressed(seen.memory_waiting)
    parts = (few, young, _throttled(held), waits, _killed(seen.kills), pressed, away)
    known = _known(observed_s, seen.step_s)
    buffer = seen.knobs.memory_buffer
    margin = memory_margin(observed_s, buffer=buffer, margins=seen.margins)
    return Recommendation(
        state="provisional" if few else "firm",
        cpu_millis=_cpu(seen, known, held, waited),
        memory_mb=_memory(seen, known, margin),
        limits_memory=limits,
        memory_margin=margin,
        reason="; ".join(filter(None, parts)),
    )


def _cpu(seen: KnownUsage, known: float, held: float, waited: float) -> BoundedAmount:
    knobs = seen.knobs
    value = max(_ceil(seen.cpu_p95 * 1000 / (1 - held)), knobs.least_cpu_millis)
    lower = max(_ceil(min(seen.cpu_p50, seen.cpu_p95) * 1000), knobs.least_cpu_millis)
    return BoundedAmount(
        value=value,
        lower=min(lower, value),
        # While it waited it used nothing, and nobody knows what it would have used: work that waits is done later.
        upper=_ceil(value / known / (1 - waited)),
        confidence=round(known * (1 - max(held, waited)), 3),
    )


def _memory(seen: KnownUsage, known: float, margin: float) -> BoundedAmount:
    knobs = seen.knobs
    needed = float(seen.memory_needed)
    if seen.memory_waiting >= PRESSED_LEAST:
        needed = max(needed, seen.memory_max * PRESSED_RATIO)
    wanted = max(seen.memory_max * margin, needed * KILLED_MARGIN)
    value = max(_ceil(wanted / _MB), knobs.least_memory_mb)
    used = max(seen.memory_max, seen.memory_needed)
    trusted = KILLED_CONFIDENCE if seen.kills or needed > seen.memory_needed else 1.0
    return BoundedAmount(
        value=value,
        lower=min(max(_ceil(used / _MB), knobs.least_memory_mb), value),
        upper=_ceil(value / known),
        confidence=round(known * trusted, 3),
    )


def _known(observed_s: float, step_s: float) -> float:
    """VPA widens what it advises at most by the inverse of this."""
    days = max(observed_s, step_s, 1.0) / 86_400
    return days / (days + 1)


def _held(throttled: float) -> float:
    """The share of time, in steps, that it was kept from using."""
    if throttled < THROTTLED_STEP:
        return 0.0
    return min(math.floor(throttled / THROTTLED_STEP) * THROTTLED_STEP, MOST_THROTTLED)


def _waited(waiting: float) -> float:
    """The share of time, in steps, in which it waited for a CPU."""
    if waiting < WAITED_LEAST:
        return 0.0
    return min(math.floor(waiting / WAITED_STEP) * WAITED_STEP, MOST_WAITED)


def _waits(waited: float) -> str:
    return f"waits for a CPU in {waited:.0%} of the time: it may need more" if waited else ""


def _pressed(waiting: float) -> str:
    if waiting < PRESSED_LEAST:
        return ""
    return "waits for memory that was taken from it: it needs more"


def _throttled(held: float) -> str:
    return f"stopped at its CPU limit in {held:.0%} of the time: it needs more" if held else ""


def _killed(kills: int) -> str:
    if not kills:
        return ""
    times = "once" if kills == 1 else f"{kills} times"
    return f"killed for memory {times}: it needs more"


def _ceil(amount: float) -> int:
    # A binary fraction's last digits must not cost a whole unit: 0.07 * 1000 is 70.00000000000001.
    return math.ceil(amount - 5e-7)


@functools.lru_cache(maxsize=10_000)
def _young(seconds: int) -> str:
    return f"no limit of memory before a day: {_span(seconds)} of data"


def _span(seconds: float) -> str:
    # Whole units that have passed, as the command's column shows them: 5 min 40 s is 5 min.
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds / size)} {unit}"
    return f"{int(seconds)} s"
