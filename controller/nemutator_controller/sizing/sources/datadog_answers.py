"""What Datadog answers to a question for series, of which only those that can be true are kept.

An answer has its moments once and a row of numbers for each series, null where there is none. A moment is where its
step begins, in milliseconds. Units are in the answer: CPU comes in billionths of a core today, and came in others.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from nemutator_controller.prometheus_answers import (
    AHEAD_S,
    DUPLICATE,
    FUTURE,
    MOST_SERIES,
    UNORDERED,
    PrometheusSeries,
)

MOST_MOMENTS = 10_000
LONGEST_WHY = 200
LONGEST_WAIT_S = 3_600.0
"""Its periods of an hour are the longest."""

RIGHTS = "it needs an API key and an application key with the right timeseries_query"

UNIT, RAGGED = "unit", "ragged"
"""Reasons for which samples are left out: nobody knows what their unit is, or there are not as many as moments."""

TIMES: Mapping[str, float] = {
    "nanocore": 1e-9,
    "microcore": 1e-6,
    "millicore": 1e-3,
    "core": 1.0,
    "cpu": 1.0,
    # As the metric of CPU was described once: of one core, in billionths.
    "percent_nano": 1e-9,
    "byte": 1.0,
    "kibibyte": 1024.0,
    "mebibyte": 1024.0**2,
    "gibibyte": 1024.0**3,
    "kilobyte": 1e3,
    "megabyte": 1e6,
    "gigabyte": 1e9,
}
"""What a unit is in cores or bytes."""


class DatadogUnavailableError(Exception):
    """It may answer later; says why, for people. Nothing in it is secret."""


class DatadogRefusedError(Exception):
    """It will not answer this question; says why, for people. Nothing in it is secret."""


class DatadogBusyError(Exception):
    """It has been asked too often, and says when to ask again."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"Datadog has been asked too often, ask again in {wait_s:.0f} s")
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class DatadogAnswer:
    series: Sequence[Sequence[PrometheusSeries]]
    """By query; their labels are tags, of which none is `N/A`. Moments are in seconds."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    pause_s: float = 0.0
    """How long nothing else should be asked: nothing is left of what may be asked in this period."""


class _Unit(msgspec.Struct, gc=False):
    name: str | None = None


class _Series(msgspec.Struct, gc=False):
    group_tags: list[str] | None = None
    query_index: int = 0
    unit: list[_Unit | None] | None = None


class _Attributes(msgspec.Struct):
    series: list[_Series] | None = None
    times: list[float] | None = None
    values: list[list[float | None]] | None = None


class _Data(msgspec.Struct):
    attributes: _Attributes | None = None


class _Answer(msgspec.Struct):
    data: _Data | None = None
    errors: str | list[str] | None = None


_ANSWER = msgspec.json.Decoder(_Answer)


def understood(
    headers: Mapping[str, str], content: bytes, *, units: Sequence[str], now: float
) -> DatadogAnswer:
    """What was answered to queries of metrics that usually have *units*, of which the answer need say nothing.

    Names of *headers* have small letters. Raises `DatadogRefusedError`.
    """
    answer = read_answer(content, units=units, now=now)
    is_last = headers.get("x-ratelimit-remaining", "").strip() == "0"
    return DatadogAnswer(answer.series, answer.dropped, wait_s(headers) if is_last else 0.0)


def refusal(
    why: str, status: int | None, headers: Mapping[str, str]
) -> DatadogUnavailableError | DatadogRefusedError | DatadogBusyError:
    """The error for an answer that is none; *status* is None where nobody has answered."""
    if status == 429:
        return DatadogBusyError(wait_s(headers))
    if status in (401, 403):
        return DatadogRefusedError(f"{why} ({RIGHTS})")
    is_passing = status is None or status >= 500
    return DatadogUnavailableError(why) if is_passing else DatadogRefusedError(why)


def wait_s(headers: Mapping[str, str]) -> float:
    """Until the period is over, as `X-RateLimit-Reset` or else `X-RateLimit-Period` says it; a minute, where
    neither does."""
    for name in ("x-ratelimit-reset", "x-ratelimit-period"):
        text = headers.get(name, "").strip()
        if text.isascii() and text.isdecimal():
            return min(max(float(text[:9]), 1.0), LONGEST_WAIT_S)
    return 60.0


def read_answer(content: bytes, *, units: Sequence[str], now: float) -> DatadogAnswer:
    """Raises `DatadogRefusedError`."""
    try:
        whole = _ANSWER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DatadogRefusedError(f"Datadog cannot be read: {_plain(str(error))}") from error
    found = None if whole.data is None else whole.data.attributes
    if whole.errors or found is None:
        raise DatadogRefusedError(f"Datadog says {_said(whole.errors) or 'nothing'}")
    series, moments, rows = found.series or [], found.times or [], found.values or []
    if len(series) > MOST_SERIES or len(moments) > MOST_MOMENTS:
        many = f"{len(series)} series of {len(moments)} moments"
        raise DatadogRefusedError(f"Datadog answers {many}, more than can be held")
    dropped: dict[str, int] = {}
    at, sound = _moments(moments, latest=now + AHEAD_S)
    kept: list[dict[frozenset[tuple[str, str]], PrometheusSeries]] = [{} for _ in units]
    for number, one in enumerate(series):
        row = rows[number] if number < len(rows) else []
        told = sum(value is not None for value in row)
        if len(row) != len(moments) or not 0 <= one.query_index < len(units):
            _count(dropped, RAGGED, told)
            continue
        times = _times(one, units[one.query_index])
        tags = _tags(one.group_tags or ())
        name, of_query = frozenset(tags.items()), kept[one.query_index]
        if math.isnan(times) or name in of_query:
            _count(dropped, UNIT if math.isnan(times) else DUPLICATE, told)
            continue
        # What is infinite then is more than any machine has, and left out as such.
        with np.errstate(over="ignore"):
            values = np.array([math.nan if value is None else value for value in row]) * times
        known = ~np.isnan(values)
        for why, wrong in sound.items():
            _count(dropped, why, int((known & wrong).sum()))
        good = known & ~np.logical_or.reduce([*sound.values()])
        if good.any():
            of_query[name] = PrometheusSeries(tags, at[good].tolist(), values[good].tolist())
    return DatadogAnswer([list(one.values()) for one in kept], dropped)


def _moments(
    times: Sequence[float], *, latest: float
) -> tuple[npt.NDArray[np.float64], Mapping[str, npt.NDArray[np.bool_]]]:
    """The moments in seconds, and which of them cannot be, by reason."""
    at = np.array(times, dtype=np.float64) / 1_000
    future = at > latest
    told = np.where(future, -np.inf, at)
    before = np.maximum.accumulate(np.concatenate(([-np.inf], told)))[:-1]
    same, earlier = at == before, at < before
    return at, {FUTURE: future, DUPLICATE: same & ~future, UNORDERED: earlier & ~future}


def _times(series: _Series, usual: str) -> float:
    """Of what has no unit, a number is a number, whatever is said; NaN: nobody knows."""
    primary = series.unit[0] if series.unit else None
    said = usual if primary is None else primary.name or usual
    return TIMES.get(said, math.nan) if usual else 1.0


def _tags(texts: Iterable[str]) -> dict[str, str]:
    """A series without a tag that was asked for has `N/A` there."""
    pairs = (text.partition(":") for text in texts)
    return {key: value for key, _, value in pairs if value not in ("", "N/A")}


def _said(errors: str | list[str] | None) -> str:
    return _plain("; ".join(errors[:3]) if isinstance(errors, list) else errors or "")


def _plain(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text[:LONGEST_WHY]).strip()


def _count(dropped: dict[str, int], reason: str, number: int) -> None:
    if number:
        dropped[reason] = dropped.get(reason, 0) + number
