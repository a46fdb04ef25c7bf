"""What Prometheus answers to a query: series of samples, of which only those that can be true are kept.

Thanos, Mimir and VictoriaMetrics answer in the same form. None of them is believed more than it has to be: numbers
that are none, moments that come twice, out of order or from the future are left out and counted, by reason.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

AHEAD_S = 300.0
"""How far its clock may run ahead of ours."""

MOST_SERIES = 100_000
LONGEST_WHY = 200

NOT_FINITE, FUTURE, DUPLICATE, UNORDERED = "not_finite", "future", "duplicate", "unordered"
"""Reasons for which a sample is left out."""
HISTOGRAM = "histogram"
"""Native histograms are not read."""


class UnreadablePrometheusError(Exception):
    """The answer is none that Prometheus gives, or says that the query failed; for people."""


class PrometheusUnavailableError(Exception):
    """It may answer later; says why, for people. Nothing in it is secret."""


class PrometheusRefusedError(Exception):
    """It will not answer this query; says why, for people. Nothing in it is secret."""


class PrometheusTooMuchError(PrometheusRefusedError):
    """It may answer a part of this query: all of it is more than it computes, or more than is read."""


@dataclass(frozen=True, slots=True)
class PrometheusSeries:
    labels: Mapping[str, str]
    at: Sequence[float]
    """Seconds since the epoch, rising."""
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class PrometheusAnswer:
    series: Sequence[PrometheusSeries]
    """Those with a sample at least; no two of them have the same labels."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Samples that were left out, by reason."""
    warnings: Sequence[str] = ()
    """What it says of its own answer, such as that a part is missing."""


Sample = tuple[float, str]


class _Series(msgspec.Struct, gc=False):
    metric: dict[str, str] = {}
    value: Sample | None = None
    values: list[Sample] = []
    histogram: list[msgspec.Raw] = []
    histograms: list[msgspec.Raw] = []


class _Data(msgspec.Struct):
    resultType: str  # noqa: N815 - Prometheus spells it so
    result: msgspec.Raw


class _Answer(msgspec.Struct):
    status: str
    data: _Data | None = None
    errorType: str = ""  # noqa: N815 - Prometheus spells it so
    error: str = ""
    warnings: list[str] = []
    isPartial: bool = False  # noqa: N815 - VictoriaMetrics of several nodes spells it so


PARTIAL = "a part of its storage has not answered"

_ANSWER = msgspec.json.Decoder(_Answer)
_SERIES = msgspec.json.Decoder(list[_Series])


def read_answer(content: bytes, *, now: float) -> PrometheusAnswer:
    """The vector or matrix in the body of an answer; raises `UnreadablePrometheusError`."""
    try:
        whole = _ANSWER.decode(content)
        if whole.status != "success" or whole.data is None:
            why = _plain(": ".join(one for one in (whole.errorType, whole.error) if one))
            raise UnreadablePrometheusError(why or "it answers neither data nor an error")
        if whole.data.resultType not in ("vector", "matrix"):
            kind = _plain(whole.data.resultType)
            raise UnreadablePrometheusError(f"it answers a {kind}, not a vector or a matrix")
        found = _SERIES.decode(whole.data.result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadablePrometheusError(_plain(str(error))) from error
    if len(found) > MOST_SERIES:
        raise UnreadablePrometheusError(f"it answers {len(found)} series, more than {MOST_SERIES}")
    dropped: dict[str, int] = {}
    kept: dict[frozenset[tuple[str, str]], PrometheusSeries] = {}
    for one in found:
        samples = one.values if one.value is None else [one.value, *one.values]
        labels = frozenset(one.metric.items())
        histograms = len(one.histograms) + bool(one.histogram)
        _count(dropped, HISTOGRAM, histograms)
        if labels in kept:
            _count(dropped, DUPLICATE, len(samples))
            continue
        at, values = _sound(samples, dropped, latest=now + AHEAD_S)
        if at:
            kept[labels] = PrometheusSeries(one.metric, at, values)
    warnings = [PARTIAL] if whole.isPartial else []
    warnings += [_plain(one) for one in whole.warnings[:5]]
    return PrometheusAnswer(list(kept.values()), dropped, warnings)


def _sound(
    samples: Iterable[Sample], dropped: dict[str, int], *, latest: float
) -> tuple[list[float], list[float]]:
    times: list[float] = []
    values: list[float] = []
    before = -math.inf
    for at, text in samples:
        value = _number(text)
        if not math.isfinite(value):
            _count(dropped, NOT_FINITE)
        elif at > latest:
            _count(dropped, FUTURE)
        elif at == before:
            _count(dropped, DUPLICATE)
        elif at < before:
            _count(dropped, UNORDERED)
        else:
            times.append(at)
            values.append(value)
            before = at
    return times, values


def _number(text: str) -> float:
    try:
        # Go writes no underscores, which Python would read.
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def _count(dropped: dict[str, int], reason: str, number: int = 1) -> None:
    if number:
        dropped[reason] = dropped.get(reason, 0) + number


def _plain(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text[:LONGEST_WHY]).strip()


def quoted(text: str) -> str:
    """*text* as a string of PromQL, so that nothing in it ends the string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def matchers(labels: Mapping[str, str]) -> str:
    """A selector's braces: series that have exactly these values. An empty one: that have no such label."""
    return "{" + ",".join(f"{name}={quoted(value)}" for name, value in labels.items()) + "}"
