"""Recorded use as it comes in files: CSV, what Prometheus answers to a query over a range, or what `nemutator history` prints.

All are strangers' bytes: what is no number, negative or from another time is left out and counted.
"""

import codecs
import csv
import io
import math
from bisect import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from nemutator_controller.prometheus_answers import UnreadablePrometheusError, read_answer
from nemutator_controller.sizing.buckets import CPU, MEMORY
from nemutator_controller.sizing.history_recordings import (
    UnreadableHistoryError,
    is_history,
    read_history,
)
from nemutator_controller.sizing.strategies.known import Resource
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

MOST_POINTS = 5_000_000
MOST_STEPS = 10_000_000
"""Of one container: months by the second."""
MOST_CELLS = 50_000_000
LONGEST_S = 3 * 366 * 86_400
"""From the first point of a container to its last. What lies further apart is of a wrong clock, and each hour of it
would be replayed."""
LONGEST_FIELD = 1_000
LATEST = 253_402_300_799.0
"""The end of the year 9999: what is later is no moment, or in milliseconds."""

LONGEST_GAP_S = 31 * 86_400
"""Points that lie further apart are parts of a recording; one with few points is of a wrong clock."""
FEWEST_OF_A_PART = 0.01
"""Of the points of the largest part: what has fewer is left out."""

UNREADABLE, NEGATIVE, ABSURD, FAR_OFF = "unreadable", "negative", "absurd", "far_off"
"""Reasons for which a point is left out."""

COLUMNS = ("time", "name", "pod")


class UnreadableRecordingError(Exception):
    """What was recorded cannot be read; for people."""


@dataclass(frozen=True, slots=True)
class Recording:
    uses: tuple[RecordedUse, ...]
    dropped: Mapping[str, int]

    @property
    def judged(self) -> tuple[RecordedUse, ...]:
        """With two hours at least; before the second one no strategy says anything."""
        return tuple(use for use in self.uses if use.hours > 1)


@dataclass(frozen=True, slots=True)
class RecordedPoint:
    name: str
    pod: str
    at: float
    value: float


def read_recording(content: bytes, resource: Resource, *, step_s: int, now: float) -> Recording:
    """Each container's use in steps of *step_s*: the average of CPU, the most of memory.

    Raises `UnreadableRecordingError`.
    """
    dropped: dict[str, int] = {}
    content = content.removeprefix(codecs.BOM_UTF8)
    is_json = content.lstrip()[:1] == b"{"
    if is_json and is_history(content):
        points = _history(content, resource)
    else:
        points = _prometheus(content, dropped, now) if is_json else _csv(content, resource, dropped)
    return recorded(points, resource, step_s=step_s, dropped=dropped)


def recorded(
    points: Iterable[RecordedPoint], resource: Resource, *, step_s: int, dropped: dict[str, int]
) -> Recording:
    """The same of *points*; what is left out of them is counted in *dropped*, too."""
    rows: dict[str, dict[str, list[tuple[float, float]]]] = {}
    largest, late = largest_of(resource), ""
    for number, point in enumerate(points):
        if number >= MOST_POINTS:
            raise UnreadableRecordingError(f"there are more than {MOST_POINTS} points")
        if LATEST < point.at < math.inf:
            late = late or point.name
            _count(dropped, FAR_OFF)
        elif not math.isfinite(point.value) or not 0 <= point.at <= LATEST:
            _count(dropped, UNREADABLE)
        elif point.value < 0:
            _count(dropped, NEGATIVE)
        elif point.value > largest:
            _count(dropped, ABSURD)
        else:
            pods = rows.setdefault(point.name, {})
            pods.setdefault(point.pod, []).append((point.at, point.value))
    if late and not rows:
        raise UnreadableRecordingError(
            f"{late[:LONGEST_FIELD]}: a time after the year 9999, if its times are in seconds"
        )
    cells = 0
    uses = []
    for name, pods in sorted(rows.items()):
        begin, end = _without_far_off(pods, dropped)
        first, last = begin // step_s, end // step_s
        steps = int(last - first) + 1
        if (last - first) * step_s > LONGEST_S:
            raise UnreadableRecordingError(
                f"{name[:LONGEST_FIELD]}: its points lie too far apart: more than three years"
            )
        cells += steps * len(pods)
        if steps > MOST_STEPS:
            raise UnreadableRecordingError(
                f"{name[:LONGEST_FIELD]}: its points lie too far apart for steps of {step_s} s"
            )
        if cells > MOST_CELLS:
            raise UnreadableRecordingError(
                f"its pods have together more than {MOST_CELLS} steps of {step_s} s: take longer steps, or fewer pods"
            )
        matrix = [_in_steps(pods[pod], int(first), steps, step_s, resource) for pod in sorted(pods)]
        uses.append(RecordedUse(name, step_s, np.stack(matrix)))
    return Recording(tuple(uses), dropped)


def largest_of(resource: Resource) -> float:
    """More of it, at one moment and in one container, is an error of whoever measured."""
    return CPU.largest if resource == "cpu" else MEMORY.largest


def _without_far_off(
    pods: dict[str, list[tuple[float, float]]], dropped: dict[str, int]
) -> tuple[float, float]:
    """When the first and the last of the points of *pods* were. Those far off the others are taken out of them: few beside the
    others, or, where all lie too far apart to be replayed, fewer than the others."""
    moments = np.sort(np.array([at for points in pods.values() for at, _ in points]))
    cuts = np.flatnonzero(np.diff(moments) > LONGEST_GAP_S) + 1
    if not len(cuts):
        return float(moments[0]), float(moments[-1])
    parts = np.split(moments, cuts)
    most = max(map(len, parts))
    parts = [part for part in parts if len(part) >= FEWEST_OF_A_PART * most]
    while len(parts) > 1 and parts[-1][-1] - parts[0][0] > LONGEST_S:
        # Of as many points the later ones stay.
        parts.pop(0 if len(parts[0]) <= len(parts[-1]) else -1)
    begins, ends = ([float(part[at]) for part in parts] for at in (0, -1))
    for pod, points in list(pods.items()):
        sound = [
            point
            for point in points
            if begins[0] <= point[0] <= ends[max(bisect(begins, point[0]) - 1, 0)]
        ]
        _count(dropped, FAR_OFF, len(points) - len(sound))
        if sound:
            pods[pod] = sound
        else:
            del pods[pod]
    return begins[0], ends[-1]


def _in_steps(
    points: list[tuple[float, float]], first: int, steps: int, step_s: int, resource: Resource
) -> Numbers:
    at, values = np.array(points, dtype=np.float64).T
    where = (at // step_s).astype(np.int64) - first
    found = np.full(steps, np.nan)
    if resource == "memory":
        np.fmax.at(found, where, values)
        return found
    sums, counts = np.zeros(steps), np.zeros(steps)
    np.add.at(sums, where, values)
    np.add.at(counts, where, 1.0)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found


def _csv(content: bytes, resource: Resource, dropped: dict[str, int]) -> Iterable[RecordedPoint]:
    try:
        text = io.StringIO(content.decode(), newline="")
    except UnicodeDecodeError as error:
        raise UnreadableRecordingError(f"it is not UTF-8 at byte {error.start}") from error
    lines = csv.reader(text)
    wanted = (*COLUMNS, resource)
    try:
        titles = [title.strip() for title in next(lines, [])]
        missing = [title for title in wanted if title not in titles]
        if missing:
            raise UnreadableRecordingError(
                f"its first line does not name {', '.join(missing)}; needed are {', '.join(wanted)}, with commas between"
            )
        places = [titles.index(title) for title in wanted]
        before = lines.line_num
        for line in lines:
            # A quote without its other half takes all lines after it, up to the next quote.
            taken, before = lines.line_num - before, lines.line_num
            if not line:
                continue
            if len(line) <= max(places) or max(map(len, line)) > LONGEST_FIELD:
                _count(dropped, UNREADABLE, taken)
                continue
            at, name, pod, value = (line[place] for place in places)
            # An empty cell is a moment at which nothing was measured.
            if not value.strip():
                continue
            point = RecordedPoint(name, pod, _moment(at), _number(value))
            if math.isnan(point.at) or math.isnan(point.value):
                _count(dropped, UNREADABLE, taken)
                continue
            yield point
    except csv.Error as error:
        raise UnreadableRecordingError(f"line {lines.line_num}: {error}") from error


def _prometheus(content: bytes, dropped: dict[str, int], now: float) -> Iterable[RecordedPoint]:
    try:
        answer = read_answer(content, now=now)
    except UnreadablePrometheusError as error:
        raise UnreadableRecordingError(str(error)) from error
    for reason, number in answer.dropped.items():
        _count(dropped, reason, number)
    for series in answer.series:
        labels = series.labels
        owner = labels.get("workload") or labels.get("pod", "")
        parts = (labels.get("namespace", ""), owner, labels.get("container", ""))
        name = "/".join(part[:LONGEST_FIELD] for part in parts if part) or "-"
        pod = labels.get("pod", "")[:LONGEST_FIELD]
        for at, value in zip(series.at, series.values, strict=True):
            yield RecordedPoint(name, pod, at, value)


def _history(content: bytes, resource: Resource) -> Iterable[RecordedPoint]:
    try:
        found = read_history(content, is_memory=resource == "memory")
    except UnreadableHistoryError as error:
        raise UnreadableRecordingError(str(error)) from error
    return (RecordedPoint(found.name[:LONGEST_FIELD], "", at, value) for at, value in found.points)


def _moment(text: str) -> float:
    """Seconds since the epoch, written so or as RFC 3339; NaN: neither."""
    seconds = _number(text)
    if not math.isnan(seconds):
        return seconds
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return math.nan
    return moment.timestamp() if moment.tzinfo else math.nan


def _number(text: str) -> float:
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def _count(dropped: dict[str, int], reason: str, number: int = 1) -> None:
    if number:
        dropped[reason] = dropped.get(reason, 0) + number
