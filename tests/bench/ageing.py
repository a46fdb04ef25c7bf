"""How often a verdict on memory is wrong, by weeks of simulated workloads.

`make bench NAME=ageing`. A week is a week of readings every ten minutes of one to three replicas, of which
the product's own `judge` sees what it would have seen: one look a day. Noise is autoregressive, or drawn in
blocks from a recorded series of residuals (a moving block bootstrap); over it lie seasons of a day, sawteeth
of garbage collection, caches that fill within minutes or a day and a half, deploys, restarts, and level
shifts of load. The same weeks with a leak that doubles memory in seven days show what is found.

In further weeks memory follows a load that comes and goes, jumps or climbs: they are looked at with the load
that the agent would have counted beside it, and without.

Nothing was tuned on the weeks of `SEED`; others were used for that.
"""

import math
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from operator import attrgetter

import numpy as np
from nemutator_controller.ageing.growth import Floor, judge
from nemutator_controller.ageing.trends import DAY_S, SeriesPoint
from numpy.typing import NDArray

from tests.bench.frame import Result, aim

WEEKS = 6_000
LEAKING_WEEKS = 1_500
LOADED_WEEKS = 1_000
LOADED_LEAKING_WEEKS = 500
PART = 100
SEED = 14
PROCESSES = 2

STEP_S = 600.0
PER_DAY = int(DAY_S / STEP_S)
PER_WEEK = 7 * PER_DAY

MB = 1e6
FLOOR = Floor(provisional=4 * MB, weekly=16 * MB)

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Week:
    kind: str
    instances: list[list[SeriesPoint]]
    loads: list[list[SeriesPoint]] | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What became of one week."""

    kind: str
    firm: int | None
    """The day on which a firm leak was told."""
    provisional: bool
    """Whether the first day told a provisional one."""
    without_load: bool = False
    """Whether a firm leak was told on any day by those that did not know the load."""


def bench() -> Result:
    began = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        quiet = _all(pool, WEEKS, leaks=False)
        leaking_weeks = _all(pool, LEAKING_WEEKS, leaks=True)
        loaded = _loaded(pool)
    weeks = Counter(one.kind for one in quiet)
    false = Counter(one.kind for one in quiet if one.firm is not None)
    provisional = Counter(one.kind for one in quiet if one.provisional)
    leaking = Counter(one.kind for one in leaking_weeks)
    found = Counter(one.kind for one in leaking_weeks if one.firm is not None)
    days = [one.firm for one in leaking_weeks if one.firm is not None]
    wrong, right = sum(false.values()), sum(found.values())
    bound = _upper_bound(wrong, WEEKS)
    measured = {
        "workload_weeks": WEEKS,
        "seed": SEED,
        "false_leaks": wrong,
        "false_leak_share": wrong / WEEKS,
        "false_leak_share_upper_95": round(bound, 6),
        "false_leaks_by_kind": {kind: [false[kind], count] for kind, count in weeks.items()},
        "provisional_in_the_first_day_by_kind": {
            kind: [provisional[kind], count] for kind, count in weeks.items()
        },
        "leaking_weeks": LEAKING_WEEKS,
        "found_share": right / LEAKING_WEEKS,
        "found_by_kind": {kind: [found[kind], count] for kind, count in leaking.items()},
        "median_day_found": float(np.median(days)) if days else None,
        "memory_follows_load": loaded,
        "seconds": round(time.perf_counter() - began, 1),
    }
    for name, value in measured.items():
        sys.stdout.write(f"{name}: {value}\n")
    return Result(
        measured,
        (
            aim("false leaks in a workload-week", wrong / WEEKS, "<=", 0.001),
            aim("the same, upper 95 % bound", round(bound, 6), "<=", 0.001),
            aim(
                "share of leaks found that double memory in 7 days",
                right / LEAKING_WEEKS,
                ">=",
                0.95,
            ),
        ),
    )


def _all(pool: ProcessPoolExecutor, count: int, *, leaks: bool) -> list[Looked]:
    parts = [pool.submit(_part, part, leaks=leaks) for part in range(count // PART)]
    return [one for each in parts for one in each.result()]


def _loaded(pool: ProcessPoolExecutor) -> dict[str, object]:
    """Firm leaks in weeks whose memory follows the load, by who knew the load and who did not."""
    found: dict[str, object] = {}
    for leaks, count in ((False, LOADED_WEEKS), (True, LOADED_LEAKING_WEEKS)):
        parts = [pool.submit(_loaded_part, part, leaks=leaks) for part in range(count // PART)]
        weeks = [one for each in parts for one in each.result()]
        of_kind = Counter(one.kind for one in weeks)
        known = Counter(one.kind for one in weeks if one.firm is not None)
        unknown = Counter(one.kind for one in weeks if one.without_load)
        found["leaking" if leaks else "quiet"] = {
            "weeks": count,
            "told": sum(known.values()),
            "told_without_load": sum(unknown.values()),
            "by_kind": {kind: [known[kind], unknown[kind], of_kind[kind]] for kind in of_kind},
        }
    return found


def _loaded_part(part: int, *, leaks: bool) -> list[Looked]:
    dice = np.random.default_rng((SEED, 1, part, leaks))
    found = []
    for week in _loaded_weeks(dice, PART, leaks=leaks):
        known = _day_told(week)
        unknown = _day_told(replace(week, loads=None))
        found.append(Looked(week.kind, known, provisional=False, without_load=unknown is not None))
    return found


def _part(part: int, *, leaks: bool) -> list[Looked]:
    """Weeks that follow from *part* alone, whichever process makes them."""
    dice = np.random.default_rng((SEED, part, leaks))
    return [_looked_at(week, leaks=leaks) for week in _weeks(dice, PART, leaks=leaks)]


def _looked_at(week: Week, *, leaks: bool) -> Looked:
    early = not leaks and any(
        judge([_until(one, hours * 3600.0) for one in week.instances], FLOOR).growth
        == "grows provisionally"
        for hours in (1, 6, 24)
    )
    return Looked(week.kind, _day_told(week), early)


def _day_told(week: Week) -> int | None:
    for day in range(2, 8):
        points = [_until(one, day * DAY_S) for one in week.instances]
        if judge(points, FLOOR, loads=week.loads).growth == "grows":
            return day
    return None


def _until(points: list[SeriesPoint], moment: float) -> list[SeriesPoint]:
    return points[: bisect_right(points, moment, key=attrgetter("at"))]


def _weeks(dice: np.random.Generator, count: int, *, leaks: bool) -> Iterator[Week]:
    kinds = ("white", "ar 0.6", "ar 0.9", "ar 0.95", "blocks")
    for number in range(count):
        noise = kinds[number % len(kinds)]
        level = 10 ** dice.uniform(1.3, 3.3) * MB
        spread = 10 ** dice.uniform(-2.0, -0.9)
        shape = dice.choice(["plain", "season", "cache", "sawtooth", "deploy", "load doubles"])
        instances = []
        for _ in range(int(dice.integers(1, 4))):
            relative = 1 + spread * _noise(dice, noise)
            if shape != "plain":
                relative += _season(dice)
            if shape == "cache" and not leaks:
                relative += _cache(dice)
            if shape == "sawtooth":
                relative *= _sawtooth(dice)
            if shape == "load doubles":
                relative += 0.3 * (np.arange(PER_WEEK) >= dice.integers(PER_DAY, 6 * PER_DAY))
            if leaks:
                relative += np.arange(PER_WEEK) / PER_WEEK
            first = int(dice.integers(0, 5 * PER_DAY)) if shape == "deploy" and not leaks else 0
            instances.append(_points(level * np.maximum(relative, 0.05), first))
        yield Week(f"{shape}, {noise}", instances)


def _loaded_weeks(dice: np.random.Generator, count: int, *, leaks: bool) -> Iterator[Week]:
    kinds = ("comes and goes", "jumps", "climbs by steps", "climbs", "rests at weekends")
    day = np.arange(PER_WEEK) / PER_DAY
    for number in range(count):
        kind = kinds[number % len(kinds)]
        course = np.ones(PER_WEEK)
        if kind == "jumps":
            course += dice.uniform(0.3, 1.5) * (day >= dice.uniform(1, 6))
        elif kind == "climbs by steps":
            course += dice.uniform(0.05, 0.3) * np.floor(day)
        elif kind == "climbs":
            course += dice.uniform(0.3, 1.5) * day / 7
        elif kind == "rests at weekends":
            course -= dice.uniform(0.2, 0.7) * (day >= 5)
        course *= 1 + _season(dice)
        level, follows = 10 ** dice.uniform(1.3, 3.3) * MB, dice.uniform(0.2, 0.9)
        spread = 10 ** dice.uniform(-2.0, -1.3)
        instances, loads = [], []
        for _ in range(int(dice.integers(1, 4))):
            load = np.maximum(course * (1 + 0.1 * _noise(dice, "ar 0.9")), 0.05)
            relative = 1 - follows + follows * load + spread * _noise(dice, "ar 0.9")
            if leaks:
                relative += day / 7
            instances.append(_points(level * np.maximum(relative, 0.05), 0))
            # What is allocated is sampled: a reading knows it to about so much.
            counted = load * (1 + 0.05 * dice.standard_normal(PER_WEEK))
            loads.append(_points(1_000 * np.maximum(counted, 0.0), 0))
        yield Week(kind, instances, loads)


def _noise(dice: np.random.Generator, kind: str) -> Numbers:
    if kind == "white":
        return dice.standard_normal(PER_WEEK)
    if kind == "blocks":
        return _blocks(dice)
    # Of hourly means, as it is usually given; of readings every ten minutes it is the sixth root.
    return _autoregressive(dice, float(kind.removeprefix("ar ")) ** (1 / 6))


def _autoregressive(dice: np.random.Generator, along: float) -> Numbers:
    shocks = dice.standard_normal(PER_WEEK) * math.sqrt(1 - along**2)
    found = np.empty(PER_WEEK)
    value = float(dice.standard_normal())
    for place, shock in enumerate(shocks):
        value = along * value + float(shock)
        found[place] = value
    return found


def _blocks(dice: np.random.Generator, hours: int = 12) -> Numbers:
    """Blocks of half a day, drawn from residuals with bursts and two speeds."""
    source = _autoregressive(dice, 0.97) + 0.3 * dice.standard_t(3, PER_WEEK)
    source = (source - source.mean()) / source.std()
    length = hours * 6
    starts = dice.integers(0, PER_WEEK - length, PER_WEEK // length)
    return np.concatenate([source[start : start + length] for start in starts])


def _season(dice: np.random.Generator) -> Numbers:
    phase, size = dice.uniform(0, 2 * math.pi), dice.uniform(0.02, 0.3)
    return np.asarray(size * np.sin(2 * math.pi * np.arange(PER_WEEK) / PER_DAY + phase))


def _cache(dice: np.random.Generator) -> Numbers:
    """It fills to up to three times the level, within ten minutes or a day and a half."""
    fills = 10 ** dice.uniform(0.0, math.log10(1.5 * PER_DAY))
    return np.asarray(dice.uniform(0.2, 3.0) * (1 - np.exp(-np.arange(PER_WEEK) / fills)))


def _sawtooth(dice: np.random.Generator) -> Numbers:
    period = dice.integers(2, 40)
    return np.asarray(1 + 0.5 * (np.arange(PER_WEEK) % period) / period)


def _points(values: Numbers, first: int) -> list[SeriesPoint]:
    return [
        SeriesPoint(place * STEP_S, float(value))
        for place, value in enumerate(values)
        if place >= first
    ]


def _upper_bound(wrong: int, tries: int) -> float:
    """Of the share of wrong ones, with 95 % confidence, by Clopper and Pearson."""
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        at_most = (
            sum(
                math.comb(tries, k) * share**k * (1 - share) ** (tries - k)
                for k in range(wrong + 1)
            )
            if wrong < 50
            else 0.0
        )
        low, high = (share, high) if at_most > 0.05 else (low, share)
    return high
