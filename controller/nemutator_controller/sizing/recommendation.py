"""From use to requests and limits, and how sure that is: of many containers at once, a column for each figure.

CPU: a percentile is requested, of the busiest replica, and there is no limit, because a limit takes time away
that nobody else wants. Memory: the largest peak and a margin, requested and limited alike, because what is lent
above a request cannot be taken back. The margin is the larger the less is known: of limits that were set after
25 minutes by KRR's 15 %, most would have killed within a day. Where too little is known, the answer is a
reason and no guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.known_usage import UsageColumns
from nemutator_controller.sizing.margins import memory_margins
from nemutator_controller.sizing.recommendation_reasons import reasons

STRATEGY = "nemutator"

FIRM_POINTS = 100
"""As in KRR, which gives no value with fewer."""

LEAST_POINTS = 8
"""With fewer there is not even a provisional value: it would be the cost of the start."""

LIMIT_AFTER_S = 86_400.0
"""A day has the peaks of a day; from less, no limit of memory is set."""

MOST_WIDENED = 10.0
"""What is advised times more than that is no bound: after minutes it would be hundreds of times the value."""

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

State = Literal["firm", "provisional", "not_yet"]
_NOT_YET, _PROVISIONAL, _FIRM = 0, 1, 2
_STATES: tuple[State, ...] = ("not_yet", "provisional", "firm")

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NO_BOUND = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoundedColumns:
    """What is advised of one resource, and between which amounts what is requested can stay."""

    value: Whole
    lower: Whole
    upper: Whole
    """`NO_BOUND`: too little is known to call any amount too large."""
    confidence: Numbers
    """From 0 to 1: what is known in days, d, as d / (d + 1); less where it was kept from what it needs, or waited for
    it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecommendedColumns:
    """Amounts mean nothing where the state is `not_yet`."""

    states: Sequence[State]
    reasons: Sequence[str]
    """Why it is not known or only provisional, has no limit or is more than was used, and when it was last seen once
    it is gone."""
    cpu_millis: BoundedColumns
    """To request; no limit."""
    memory_mb: BoundedColumns
    """To request, in units of 1 000 000 bytes, as KRR rounds."""
    limits_memory: Flags
    """Whether that is the limit, too."""
    memory_margin: Numbers
    """What the largest peak is multiplied by at least."""


def recommend(seen: UsageColumns, *, now: float) -> RecommendedColumns:
    """What containers that used *seen* should request, or why that is not known yet."""
    observed_s = seen.observed_s
    held = _share(seen.throttled, THROTTLED_STEP, THROTTLED_STEP, MOST_THROTTLED)
    waited = _share(seen.cpu_waiting, WAITED_LEAST, WAITED_STEP, MOST_WAITED)
    # VPA widens what it advises at most by the inverse of this.
    days = np.maximum(np.maximum(observed_s, seen.step_s), 1.0) / 86_400
    known = days / (days + 1)
    # A hundred replicas give a hundred points at once, all of the same quarter of a minute.
    # One step less: the first point may have been cut short.
    few = (seen.points < FIRM_POINTS) | (seen.steps < FIRM_POINTS - 1)
    state = np.where(few, _PROVISIONAL, _FIRM)
    state[seen.points < LEAST_POINTS] = _NOT_YET
    limits = observed_s >= LIMIT_AFTER_S
    pressed = seen.memory_waiting >= PRESSED_LEAST
    margin = memory_margins(observed_s, buffer=seen.knobs.memory_buffer, margins=seen.margins)
    return RecommendedColumns(
        states=[_STATES[number] for number in state.tolist()],
        reasons=reasons(
            seen,
            now=now,
            is_new=state == _NOT_YET,
            least=LEAST_POINTS,
            few=few,
            firm=FIRM_POINTS,
            young=~limits & ~few,
            held=held,
            # Who is stopped at a limit waits, too: that is told once.
            waited=np.where(waited > held, waited, 0.0),
            pressed=pressed,
        ),
        cpu_millis=_cpu(seen, known, held, waited),
        memory_mb=_memory(seen, known, margin, pressed),
        limits_memory=limits,
        memory_margin=margin,
    )


def _cpu(seen: UsageColumns, known: Numbers, held: Numbers, waited: Numbers) -> BoundedColumns:
    least = seen.knobs.least_cpu_millis
    value = np.maximum(_ceil(seen.cpu_p95 * 1000 / (1 - held)), least)
    lower = np.maximum(_ceil(np.minimum(seen.cpu_p50, seen.cpu_p95) * 1000), least)
    return BoundedColumns(
        value=value,
        lower=np.minimum(lower, value),
        # While it waited it used nothing, and nobody knows what it would have used: work that waits is done later.
        upper=_upper(value, known * (1 - waited)),
        confidence=known * (1 - np.maximum(held, waited)),
    )


def _memory(seen: UsageColumns, known: Numbers, margin: Numbers, pressed: Flags) -> BoundedColumns:
    least = seen.knobs.least_memory_mb
    peak, killed = seen.memory_max.astype(np.float64), seen.memory_needed.astype(np.float64)
    needed = np.where(pressed, np.maximum(killed, peak * PRESSED_RATIO), killed)
    wanted = np.maximum(peak * margin, needed * KILLED_MARGIN)
    value = np.maximum(_ceil(wanted / _MB), least)
    lower = np.maximum(_ceil(np.maximum(peak, killed) / _MB), least)
    doubted = (seen.kills > 0) | (needed > killed)
    return BoundedColumns(
        value=value,
        lower=np.minimum(lower, value),
        upper=_upper(value, known),
        confidence=known * np.where(doubted, KILLED_CONFIDENCE, 1.0),
    )


def _upper(value: Whole, known: Numbers) -> Whole:
    return np.where(known * MOST_WIDENED < 1, NO_BOUND, _ceil(value / known))


def _share(of_time: Numbers, least: float, step: float, most: float) -> Numbers:
    """Of the time, in steps, so that advice does not change with each look; 0 below the least."""
    steps = np.floor(of_time / step) * step
    return np.where(of_time < least, 0.0, np.minimum(steps, most))


def _ceil(amounts: Numbers) -> Whole:
    # A binary fraction's last digits must not cost a whole unit: 0.07 * 1000 is 70.00000000000001.
    return np.ceil(amounts - 5e-7).astype(np.int64)
