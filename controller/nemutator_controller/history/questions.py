"""What somebody asks of a workload's history, made sound: a time, and steps that are not too many."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_controller.history import days, minutes
from nemutator_controller.history.minutes import MINUTE_S

MOST_STEPS = 1_500
USUAL_STEPS = 360
USUAL_S = 7_200.0
KEPT_S = float(days.CELLS * days.FIVE_S + days.FIVE_S)
"""From before this, only the usual week is known here."""
OLDER_S = 400 * 86_400.0
"""From before this, nobody is asked."""
AHEAD_S = 300.0
"""An agent's clock may be ahead of ours by so much."""

_STEPS = (60, 300, 900, 1_800, 3_600)
_LONG_STEPS = (10_800, 21_600, 86_400)
"""Of several weeks, of which there would be too many of an hour."""


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    begin: int
    """A multiple of the step, in seconds since the epoch."""
    step_s: int
    steps: int

    @property
    def end(self) -> int:
        return self.begin + self.steps * self.step_s


class UnclearQuestionError(ValueError):
    """What is wrong with it, for people."""


def question(query: Mapping[str, str], *, now: float, reach_s: float = KEPT_S) -> HistoryQuestion:
    """What *query* asks by `from`, `to` and `step`; raises `UnclearQuestionError`. *reach_s*: how far back."""
    end = _moment(query, "to", usual=now, now=now)
    begin = _moment(query, "from", usual=end - USUAL_S, now=now)
    if begin >= end:
        raise UnclearQuestionError("from: expected a moment before `to`")
    end = max(min(end, now + AHEAD_S), now - reach_s + 1)
    begin = min(max(begin, now - reach_s), end - 1)
    # Of what is older than the minutes that are kept, there are cells of five.
    is_old = begin < now - (minutes.CELLS - 1) * MINUTE_S
    finest = days.FIVE_S if is_old else MINUTE_S
    step_s = _step(query, span_s=end - begin, finest=finest)
    first = int(begin // step_s) * step_s
    steps = math.ceil((end - first) / step_s)
    return HistoryQuestion(first, step_s, steps)


def _step(query: Mapping[str, str], *, span_s: float, finest: int) -> int:
    if "step" not in query:
        fitting = (s for s in _STEPS if s >= finest and span_s <= s * USUAL_STEPS)
        some = next(fitting, _STEPS[-1])
        longer = (s for s in (some, *_LONG_STEPS) if span_s <= s * (MOST_STEPS - 1))
        return next(longer, _LONG_STEPS[-1])
    asked = _number(query["step"])
    if asked is None or not 1 <= asked <= 86_400:
        raise UnclearQuestionError("step: expected seconds from 1 to 86400")
    step_s = math.ceil(asked / finest) * finest
    if span_s > step_s * (MOST_STEPS - 1):
        raise UnclearQuestionError(f"step: more than {MOST_STEPS} steps; ask for longer ones")
    return step_s


def _moment(query: Mapping[str, str], name: str, *, usual: float, now: float) -> float:
    if name not in query:
        return usual
    found = _number(query[name])
    if found is None:
        what = f"{name}: expected seconds since the epoch, or before now, like -3600"
        raise UnclearQuestionError(what)
    return now + found if found <= 0 else found


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e11 else None


def older_steps(asked: HistoryQuestion, *, now: float) -> int:
    """How many of the first steps begin before our own history does."""
    before = now - KEPT_S - asked.begin
    return min(asked.steps, max(0, math.ceil(before / asked.step_s)))
