"""Why advice is what it is, in words: of most containers there is nothing to say."""

import functools
import math
from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.known_usage import UsageColumns

AWAY_S = 300.0
"""A container without a point for so long has ended, or its agent has: agents report each minute at least."""

Flags = npt.NDArray[np.bool_]


def reasons(
    seen: UsageColumns,
    *,
    now: float,
    is_new: Flags,
    least: int,
    few: Flags,
    firm: int,
    young: Flags,
    held: Numbers,
    waited: Numbers,
    pressed: Flags,
) -> list[str]:
    """*is_new*: with fewer points than *least*; *few*: with fewer than *firm*, or of less time; *young*: too young for a
    limit of memory; *held*, *waited*: shares of the time in which it was stopped at its CPU limit, and waited for it."""
    away_s = now - seen.last_at
    away = away_s > AWAY_S
    found = [""] * len(seen.keys)
    hindered = (held > 0) | (waited > 0) | (seen.kills > 0) | pressed
    told = is_new | few | young | hindered | away
    # Of nearly all of a cluster that is watched for less than a day one of these is all that there is to say.
    alone = ~(is_new | hindered | away)
    for at, texts in _plain(seen, firm=firm, few=few & alone, young=young & ~few & alone):
        for row, text in zip(at.tolist(), texts, strict=True):
            found[row] = text
    at = np.flatnonzero(told & ~(alone & (few | young)))
    columns = (
        at, is_new[at], few[at], young[at], seen.points[at], seen.span_s[at], seen.sampled_s[at],
        seen.step_s[at], seen.observed_s[at], held[at], waited[at], seen.kills[at], pressed[at],
        np.where(away, away_s, 0.0)[at],
    )  # fmt: skip
    for (
        row, new, has_few, is_young, points, span_s, sampled_s, step_s, observed_s, stopped, waits,
        kills, is_pressed, gone_s,
    ) in zip(*(column.tolist() for column in columns), strict=True):  # fmt: skip
        gone = _gone(int(gone_s)) if gone_s else ""
        if new:
            wait_s = math.ceil((least - points) * step_s)
            found[row] = f"{points} of {least} points, {gone or f'ask again in {wait_s} s'}"
            continue
        parts = []
        if has_few:
            parts.append(_few(points, firm, int(span_s), int((firm - 1) * sampled_s / points)))
        elif is_young:
            parts.append(_young(int(observed_s)))
        if stopped or waits or kills or is_pressed:
            parts += _hindered(stopped, waits, kills, is_pressed=is_pressed)
        if gone:
            parts.append(gone)
        found[row] = parts[0] if len(parts) == 1 else "; ".join(parts)
    return found


def _plain(
    seen: UsageColumns, *, firm: int, few: Flags, young: Flags
) -> Iterator[tuple[npt.NDArray[np.intp], Iterable[str]]]:
    """Rows, and the only sentence of each."""
    at = np.flatnonzero(few)
    points = seen.points[at]
    needed_s = np.where(points < firm, 0.0, (firm - 1) * seen.sampled_s[at] / np.maximum(points, 1))
    yield (
        at,
        map(_few, points.tolist(), repeat(firm), _shown(seen.span_s[at]), _shown(needed_s)),
    )
    at = np.flatnonzero(young)
    yield at, map(_young, _shown(seen.observed_s[at]))


def _shown(seconds: Numbers) -> list[int]:
    """Without what `_span` does not show, so that many are the same."""
    whole = seconds.astype(np.int64)
    for size in (60, 3600, 86_400):
        whole = np.where(whole >= 2 * size, whole // size * size, whole)
    shown: list[int] = whole.tolist()
    return shown


@functools.lru_cache(maxsize=10_000)
def _few(points: int, firm: int, span_s: int, needed_s: int) -> str:
    if points < firm:
        return f"{points} of {firm} points, over {_span(span_s)}"
    return f"{points} points of {_span(span_s)}, firm after {_span(needed_s)}"


@functools.lru_cache(maxsize=10_000)
def _young(seconds: int) -> str:
    return f"no limit of memory before a day: {_span(seconds)} of data"


def _gone(seconds: int) -> str:
    return f"last seen {_span(seconds)} ago"


def _hindered(held: float, waited: float, kills: int, *, is_pressed: bool) -> list[str]:
    times = "once" if kills == 1 else f"{kills} times"
    said = (
        (held, f"stopped at its CPU limit in {held:.0%} of the time: it needs more"),
        (waited, f"waits for a CPU in {waited:.0%} of the time: it may need more"),
        (kills, f"killed for memory {times}: it needs more"),
        (is_pressed, "waits for memory that was taken from it: it needs more"),
    )
    return [text for is_so, text in said if is_so]


def _span(seconds: int) -> str:
    # Whole units that have passed, as the command's column shows them: 5 min 40 s is 5 min.
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
