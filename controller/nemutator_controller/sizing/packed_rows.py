"""A row of the matrices as bytes, and back: what the database keeps of one container.

Two compressed streams, one after another, and a few numbers. The first is all that the first brains wrote, with VPA's coarse
buckets, and those brains read it and no further: brains of both versions can share a database while they are
replaced. The second is what is known beside, and without it a row is as exact as it was. The numbers at the end came
later yet, and brains that do not know them do not see them.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import CPU, MEMORY, VPA_CPU, moved
from nemutator_controller.sizing.daily_peaks import DAY_S, PEAK_DAYS
from nemutator_controller.sizing.histograms import HALF_LIFE_S
from nemutator_controller.sizing.hottest import PLACES, SavedReplica

_FLOAT, _DOUBLE, _DAY = np.dtype("<f4"), np.dtype("<f8"), np.dtype("<i4")
_LONG = np.dtype("<i8")
_HEAD = 4
"""Doubles in front: both references, and the last memory window's end and peak."""

_SIZE = (
    _HEAD * _DOUBLE.itemsize
    + (VPA_CPU.count + MEMORY.count) * _FLOAT.itemsize
    + PEAK_DAYS * (_DOUBLE.itemsize + _DAY.itemsize)
)

_FINE = 1
"""The version of the second stream, its first number; what a later one has is not read."""
_REPLICA = 2 * _LONG.itemsize + 2 * _DOUBLE.itemsize + CPU.count * _FLOAT.itemsize
_FINE_FIXED = 3 * _LONG.itemsize + (3 + PEAK_DAYS) * _DOUBLE.itemsize + CPU.count * _FLOAT.itemsize
_MOST_FINE = _FINE_FIXED + PLACES * _REPLICA
_WAITS = 1
"""The version of the numbers at the end, their first."""
_WAITS_SIZE = _LONG.itemsize + 2 * _DOUBLE.itemsize
_PACE = 1
"""The version of the numbers behind those."""


class UnreadableError(ValueError):
    """The bytes are not a row of ours."""


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Of memory, by day."""

    largest: npt.NDArray[np.float64]
    days: npt.NDArray[np.int32]
    """The day of each of them, in days since the epoch."""
    needed: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(PEAK_DAYS))
    """What kills for memory say was needed on that day."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavedUsage:
    """All that is known of one container."""

    points: int
    first_at: float
    last_at: float
    step_s: float
    sampled_s: float
    steps: float
    heard_at: float
    cpu_reference_at: float
    cpu: npt.NDArray[np.float32]
    peaks: Peaks
    throttled: float = 0.0
    cpu_waiting: float = 0.0
    memory_waiting: float = 0.0
    kills: int = 0
    only_replica: int = 0
    replicas_reference_at: float = 0.0
    replicas: tuple[SavedReplica, ...] = ()


def pack(kept: SavedUsage) -> bytes:
    """The arrays of *kept*: mostly zeros, so compressed they are some 400 bytes. To take more pains saves one byte of 14."""
    waits = ([_WAITS], _LONG), ([kept.cpu_waiting, kept.memory_waiting], _DOUBLE)
    pace = ([_PACE], _LONG), ([kept.sampled_s, kept.steps], _DOUBLE)
    numbers = _joined((*waits, *pace))
    return zlib.compress(_coarse(kept), 1) + zlib.compress(_fine(kept), 1) + numbers


def unpack(
    packed: bytes, *, points: int, first_at: float, last_at: float, step_s: float, heard_at: float
) -> SavedUsage:
    """The row that `pack` made *packed* of; raises `UnreadableError`."""
    content, rest = _stream(packed, _SIZE)
    if len(content) != _SIZE:
        raise UnreadableError(f"{len(content)} bytes, expected {_SIZE}")
    coarse = _Taking(content)
    head = coarse.take(_HEAD, _DOUBLE).astype(np.float64)
    vpa_cpu, _ = (coarse.take(b.count, _FLOAT).astype(np.float32) for b in (VPA_CPU, MEMORY))
    largest = coarse.take(PEAK_DAYS, _DOUBLE).astype(np.float64)
    days = coarse.take(PEAK_DAYS, _DAY).astype(np.int32)
    _must_be_finite(head, vpa_cpu, largest)
    known = SavedUsage(
        points=points,
        first_at=first_at,
        last_at=last_at,
        step_s=step_s,
        # As far as the last step tells, until more is read.
        sampled_s=points * step_s,
        steps=(last_at - first_at) / step_s if step_s > 0 else 0.0,
        heard_at=heard_at,
        cpu_reference_at=float(head[0]),
        cpu=vpa_cpu,
        peaks=Peaks(largest, days),
    )
    fine = _fine_of(rest, known) if rest else None
    return fine or replace(known, cpu=moved(vpa_cpu, VPA_CPU, CPU))


@dataclass(slots=True)
class _Taking:
    content: bytes
    taken: int = 0

    def take(self, count: int, kind: "np.dtype[np.generic]") -> npt.NDArray[np.generic]:
        part = np.frombuffer(self.content, kind, count, self.taken)
        self.taken += part.nbytes
        return part

    def number(self) -> int:
        return int(self.take(1, _LONG).astype(np.int64)[0])

    def double(self) -> float:
        return float(self.take(1, _DOUBLE).astype(np.float64)[0])


def _stream(packed: bytes, most: int) -> tuple[bytes, bytes]:
    """What the first stream of *packed* holds, up to a byte more than *most*, and what comes after it."""
    opened = zlib.decompressobj()
    try:
        content = opened.decompress(packed, most + 1)
    except zlib.error as error:
        raise UnreadableError(str(error)) from error
    return content, opened.unused_data


def _joined(parts: Sequence[tuple[object, "np.dtype[np.generic]"]]) -> bytes:
    return b"".join(np.asarray(part, kind).tobytes() for part, kind in parts)


def _coarse(kept: SavedUsage) -> bytes:
    peaks, memory = kept.peaks, np.zeros(MEMORY.count, dtype=np.float64)
    filled = peaks.days > 0
    ends = (peaks.days[filled] + 1) * DAY_S
    reference_at = float(ends.max(initial=0.0))
    weights = np.exp2((ends - reference_at) / HALF_LIFE_S)
    np.add.at(memory, MEMORY.index(peaks.largest[filled]), weights)
    last_peak = float(peaks.largest[int(peaks.days.argmax())])
    head = [kept.cpu_reference_at, reference_at, reference_at, last_peak]
    return _joined(
        (
            (head, _DOUBLE),
            (moved(kept.cpu, CPU, VPA_CPU), _FLOAT),
            (memory, _FLOAT),
            (peaks.largest, _DOUBLE),
            (peaks.days, _DAY),
        )
    )


def _fine(kept: SavedUsage) -> bytes:
    parts: list[tuple[object, np.dtype[np.generic]]] = [
        ([_FINE, kept.kills, kept.only_replica], _LONG),
        ([kept.throttled, kept.replicas_reference_at, len(kept.replicas)], _DOUBLE),
        (kept.peaks.needed, _DOUBLE),
        (kept.cpu, _FLOAT),
    ]
    for one in kept.replicas:
        parts += [
            ([one.replica, one.points], _LONG),
            ([one.high, one.last_at], _DOUBLE),
            (one.cpu, _FLOAT),
        ]
    return _joined(parts)


def _fine_of(packed: bytes, known: SavedUsage) -> SavedUsage | None:
    """*known*, with what the second stream says; None where a later version wrote it."""
    content, rest = _stream(packed, _MOST_FINE)
    fine = _Taking(content)
    if len(content) < _LONG.itemsize or fine.number() != _FINE:
        return None
    if len(content) < _FINE_FIXED or len(content) > _MOST_FINE:
        raise UnreadableError(f"{len(content)} bytes of details")
    kills, only = fine.number(), fine.number()
    throttled, reference_at, count = fine.double(), fine.double(), fine.double()
    if not 0 <= count <= PLACES or len(content) != _FINE_FIXED + int(count) * _REPLICA:
        raise UnreadableError(f"{len(content)} bytes of details, for {count} replicas")
    needed = fine.take(PEAK_DAYS, _DOUBLE).astype(np.float64)
    cpu = fine.take(CPU.count, _FLOAT).astype(np.float32)
    _must_be_finite(np.array([throttled, reference_at]), needed, cpu)
    replicas = tuple(_replica(fine) for _ in range(int(count)))
    peaks = Peaks(known.peaks.largest, known.peaks.days, needed)
    cpu_waiting, memory_waiting = _numbers_of(rest, _WAITS) or (0.0, 0.0)
    guessed = known.sampled_s, known.steps
    sampled_s, steps = _numbers_of(rest[_WAITS_SIZE:], _PACE) or guessed
    return replace(
        known,
        sampled_s=sampled_s,
        steps=steps,
        cpu=cpu,
        peaks=peaks,
        throttled=throttled,
        cpu_waiting=cpu_waiting,
        memory_waiting=memory_waiting,
        kills=kills,
        only_replica=only,
        replicas_reference_at=reference_at,
        replicas=replicas,
    )


def _numbers_of(content: bytes, version: int) -> tuple[float, float] | None:
    """Earlier versions did not write any, and a later one's are not read."""
    numbers = _Taking(content)
    if len(content) < _WAITS_SIZE or numbers.number() != version:
        return None
    found = numbers.double(), numbers.double()
    _must_be_finite(np.array(found))
    return found


def _replica(fine: _Taking) -> SavedReplica:
    replica, points = fine.number(), fine.number()
    high, last_at = fine.double(), fine.double()
    cpu = fine.take(CPU.count, _FLOAT).astype(np.float32)
    _must_be_finite(np.array([high, last_at]), cpu)
    return SavedReplica(replica=replica, points=points, high=high, last_at=last_at, cpu=cpu)


def _must_be_finite(*parts: npt.NDArray[np.floating]) -> None:
    if not all(np.isfinite(part).all() for part in parts):
        raise UnreadableError("it holds a number that is not finite")
