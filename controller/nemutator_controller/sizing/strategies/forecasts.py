"""Forecasts of the hours to come for many containers at once: simple ones, each by a rule of its own, and what most of them say.

What is known is the largest use of each of the last hours: what was used lately, at the same hour of the days before,
around it and a week ago, how the level of today is, and how the last hour ended. A single rule is often wrong for a
while; the value that so many of all rules stay below is seldom.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers

AHEAD_HOURS = 8
"""The same hour of yesterday is known for each of them."""

KEPT_HOURS = 8 * DAY_HOURS
"""A week ago, and what was usual a week before today's hours."""

STILL_HOURS = 4
"""What was used in the last hour says something about so many hours ahead."""

SIMPLE = (
    "1 hour", "3 hours", "6 hours", "a day",
    "yesterday", "3 days' median", "3 days' most", "week's median", "week's high", "week's most",
    "around in 3 days", "around in a week", "around in a week, high", "a week ago",
    "week or now", "week and now", "yesterday or now", "yesterday and now",
    "week at 2 hours' level", "week at 6 hours' level", "week at a day's level",
    "hour's end", "hour's last quarter", "growing",
)  # fmt: skip
"""The simple forecasts: what they go by."""

OFTEN_RIGHT = (
    "1 hour",
    "3 days' most",
    "around in a week, high",
    "week or now",
    "hour's end",
)
"""Simple ones that may be followed themselves."""

BY_DAYS = (
    "yesterday",
    "3 days' most",
    "week's median",
    "week's high",
    "around in a week, high",
    "a week ago",
)
UNLIKE = ("1 hour", "3 hours", "yesterday", "week's median", "week at 6 hours' level")
HIGH = (
    "1 hour", "yesterday", "week's median", "around in a week, high",
    "week or now", "week and now", "week at 6 hours' level", "hour's last quarter",
)  # fmt: skip

MOST_STAY_BELOW: tuple[tuple[tuple[str, ...], float], ...] = (
    (SIMPLE, 0.6),
    (BY_DAYS, 0.6),
    (UNLIKE, 0.6),
    (HIGH, 0.9),
)
"""Of several simple ones, the value below which such a share of them lies."""

COUNT = len(OFTEN_RIGHT) + len(MOST_STAY_BELOW)

_AHEAD = np.arange(AHEAD_HOURS)
_WEEK = DAY_HOURS * np.arange(1, 8)
_SAME_HOUR = _WEEK - _AHEAD[:, np.newaxis]
"""How long ago the same hours of the days before were, by hours ahead."""
_BESIDE = np.array([-1, 0, 1])
_AROUND = (_SAME_HOUR[:, :, np.newaxis] + _BESIDE).reshape(AHEAD_HOURS, -1)
_LEVELS = ((2, 0.85), (6, 0.95), (24, 1.0))
"""A level is what the last hours used, by what is usual at those hours; for each hour ahead so much of it is left."""
_LEVEL_AGO = np.arange(1, DAY_HOURS + 1)
_LEAST_TIMES, _MOST_TIMES = 0.3, 3.0
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class LastHour:
    """The last hour in which each container was seen; NaN: it never was."""

    most: Numbers
    end: Numbers
    """The most of its last step."""
    quarter: Numbers
    """The most of its last quarter."""


def forecasts(peaks: npt.NDArray[np.float32], hour: int, last: LastHour) -> Numbers:
    """Containers by forecasts by hours ahead, from *hour* on. *peaks* holds the most that was used in hour *h* at
    *h* modulo `KEPT_HOURS`, NaN where nothing was. Who was never seen gets NaN."""
    simple = simple_forecasts(peaks, hour, last)
    chosen = [simple[name] for name in OFTEN_RIGHT]
    for names, share in MOST_STAY_BELOW:
        ordered = np.sort(np.stack([simple[name] for name in names]), axis=0)
        chosen.append(_below(ordered, share))
    return np.stack(chosen, axis=1)


def simple_forecasts(
    peaks: npt.NDArray[np.float32], hour: int, last: LastHour
) -> dict[str, Numbers]:
    """By name, containers by hours ahead."""

    def ago(hours: npt.NDArray[np.intp]) -> Numbers:
        return np.asarray(peaks[:, (hour - hours) % KEPT_HOURS], dtype=np.float64)

    now = np.repeat(last.most[:, np.newaxis], AHEAD_HOURS, axis=1)

    def flat(values: Numbers) -> Numbers:
        return np.repeat(values[:, np.newaxis], AHEAD_HOURS, axis=1)

    def or_now(values: Numbers) -> Numbers:
        return np.where(np.isnan(values), now, values)

    day = ago(_LEVEL_AGO)
    lately = [
        flat(np.fmax(last.most, np.fmax.reduce(day[:, :hours], axis=1))) for hours in (1, 3, 6, 24)
    ]
    same = ago(_SAME_HOUR)
    week, three = np.sort(same, axis=-1), np.sort(same[:, :, :3], axis=-1)
    around = ago(_AROUND)
    wide, near = np.sort(around, axis=-1), np.sort(around[:, :, :9], axis=-1)
    yesterday = or_now(same[:, :, 0])
    usual = or_now(_share(week, 0.5))
    by_days = [
        yesterday,
        or_now(_share(three, 0.5)),
        or_now(_share(three, 1.0)),
        usual,
        or_now(_share(week, 0.8)),
        or_now(_share(week, 1.0)),
        or_now(_share(near, 0.7)),
        or_now(_share(wide, 0.5)),
        or_now(_share(wide, 0.8)),
        or_now(same[:, :, -1]),
    ]
    still = _AHEAD < STILL_HOURS
    with_now = [
        found
        for one in (usual, yesterday)
        for found in (
            np.where(still, np.maximum(one, now), one),
            np.where(still, (one + now) / 2, one),
        )
    ]
    before = np.sort(ago(_LEVEL_AGO[:, np.newaxis] + _WEEK), axis=-1)
    expected = _share(before, 0.5)
    scaled = [
        usual * (1 + (_level(day, expected, hours) - 1)[:, np.newaxis] * left**_AHEAD)
        for hours, left in _LEVELS
    ]
    growth = last.most / np.maximum(np.where(np.isnan(day[:, 1]), last.most, day[:, 1]), _TINY)
    growing = last.most * np.clip(growth, 0.5, _MOST_TIMES)
    ends = [flat(last.end), flat(last.quarter), flat(growing)]
    found = [*lately, *by_days, *with_now, *scaled, *ends]
    return dict(zip(SIMPLE, found, strict=True))


def _share(ordered: Numbers, share: float) -> Numbers:
    """Of what is *ordered* along the last axis, NaN at its end, the value below which *share* of it lies."""
    counts = np.count_nonzero(~np.isnan(ordered), axis=-1)
    at = np.maximum(np.ceil(share * counts).astype(np.intp) - 1, 0).ravel()
    flat = ordered.reshape(len(at), -1)
    found = flat[np.arange(len(at)), at].reshape(counts.shape)
    return np.asarray(found, dtype=np.float64)


def _below(ordered: Numbers, share: float) -> Numbers:
    """Of what is *ordered* along the first axis, the value below which *share* of it lies, by straight lines."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return np.asarray(
        ordered[low] + (place - low) * (ordered[high] - ordered[low]), dtype=np.float64
    )


def _level(day: Numbers, expected: Numbers, hours: int) -> Numbers:
    """What the last *hours* used, by what was *expected* of them; 1 where nothing was."""
    known = ~np.isnan(day[:, :hours]) & ~np.isnan(expected[:, :hours])
    used, usual = (
        np.where(known, values[:, :hours], 0.0).sum(axis=1) for values in (day, expected)
    )
    level = np.divide(used, usual, out=np.ones(len(day)), where=usual > _TINY)
    return np.asarray(np.clip(level, _LEAST_TIMES, _MOST_TIMES), dtype=np.float64)
