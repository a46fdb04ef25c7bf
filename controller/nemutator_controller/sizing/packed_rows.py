"""A row of the matrices as bytes, and back: what the database keeps of one container.

Two compressed streams, one after another, and a few numbers. The first is all that the first brains wrote, with VPA's coarse
buckets, and those brains read it and no further: brains of both versions can share a database while they are
replaced. The second is what is known beside, and without it a row is as exact as it was. The numbers at the end came
later yet, and brains that do not know them do not see them.
"""

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import CPU, MEMORY, VPA_CPU, moved, moved_rows, summed
from nemutator_controller.sizing.daily_peaks import DAY_S, PEAK_DAYS
from nemutator_controller.sizing.histograms import HALF_LIFE_S
from nemutator_controller.sizing.hottest import PLACES, SavedReplica

_COARSE = np.dtype(
    [
        # Both references, and the last memory window's end and peak.
        ("head", "<f8", 4),
        ("cpu", "<f4", VPA_CPU.count),
        ("memory", "<f4", MEMORY.count),
        ("largest", "<f8", PEAK_DAYS),
        ("days", "<i4", PEAK_DAYS),
    ]
)
"""The first stream."""

_VERSION = np.dtype("<i8")
_FINE = 1
"""The version of the second stream, its first number; what a later one has is not read."""
_FINE_FIXED = np.dtype(
    [
        ("version", _VERSION),
        ("kills", "<i8"),
        ("only_replica", "<i8"),
        ("throttled", "<f8"),
        ("replicas_reference_at", "<f8"),
        ("replicas", "<f8"),
        ("needed", "<f8", PEAK_DAYS),
        ("cpu", "<f4", CPU.count),
    ]
)
_REPLICA = np.dtype(
    [
        ("replica", "<i8"),
        ("points", "<i8"),
        ("high", "<f8"),
        ("last_at", "<f8"),
        ("cpu", "<f4", CPU.count),
    ]
)
"""Of each of the busiest, behind it."""
_MOST_FINE = _FINE_FIXED.itemsize + PLACES * _REPLICA.itemsize

_NUMBERS = struct.Struct("<qdd")
_WAITS, _PACE = 1, 1
"""The versions of the two times two numbers at the end, the first of each."""


_NOT_FINITE = "it holds a number that is not finite"


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
    return pack_all([kept])[0]


def pack_all(kept: Sequence[SavedUsage]) -> list[bytes]:
    """Each of *kept* as `pack` does: a thousand at once take a third of the time."""
    if not kept:
        return []
    coarse, fine = _coarse(kept), _fine(kept)
    return [
        zlib.compress(coarse[row].tobytes(), 1)
        + zlib.compress(fine[row].tobytes() + _replicas(one), 1)
        + _NUMBERS.pack(_WAITS, one.cpu_waiting, one.memory_waiting)
        + _NUMBERS.pack(_PACE, one.sampled_s, one.steps)
        for row, one in enumerate(kept)
    ]


def unpack(
    packed: bytes, *, points: int, first_at: float, last_at: float, step_s: float, heard_at: float
) -> SavedUsage:
    """The row that `pack` made *packed* of; raises `UnreadableError`."""
    content, rest = _stream(packed, _COARSE.itemsize)
    if len(content) != _COARSE.itemsize:
        raise UnreadableError(f"{len(content)} bytes, expected {_COARSE.itemsize}")
    coarse = np.frombuffer(content, _COARSE)
    vpa_cpu, largest = coarse["cpu"][0], coarse["largest"][0].copy()
    _must_be_finite(coarse["head"], vpa_cpu, largest)
    known = SavedUsage(
        points=points,
        first_at=first_at,
        last_at=last_at,
        step_s=step_s,
        # As far as the last step tells, until more is read.
        sampled_s=points * step_s,
        steps=(last_at - first_at) / step_s if step_s > 0 else 0.0,
        heard_at=heard_at,
        cpu_reference_at=float(coarse["head"][0, 0]),
        cpu=vpa_cpu,
        peaks=Peaks(largest, coarse["days"][0].copy()),
    )
    fine = _fine_of(rest, known) if rest else None
    return fine or replace(known, cpu=moved(vpa_cpu, VPA_CPU, CPU))


def _stream(packed: bytes, most: int) -> tuple[bytes, bytes]:
    """What the first stream of *packed* holds, up to a byte more than *most*, and what comes after it."""
    opened = zlib.decompressobj()
    try:
        content = opened.decompress(packed, most + 1)
    except zlib.error as error:
        raise UnreadableError(str(error)) from error
    return content, opened.unused_data


def _coarse(kept: Sequence[SavedUsage]) -> npt.NDArray[np.void]:
    """A row of the first stream for each."""
    found = np.zeros(len(kept), _COARSE)
    largest = found["largest"] = np.stack([one.peaks.largest for one in kept])
    days = found["days"] = np.stack([one.peaks.days for one in kept])
    found["cpu"] = moved_rows(np.stack([one.cpu for one in kept]), CPU, VPA_CPU)
    filled = days > 0
    ends = np.where(filled, (days + 1.0) * DAY_S, 0.0)
    reference_at = ends.max(axis=1)
    rows, slots = np.nonzero(filled)
    cells = rows * MEMORY.count + MEMORY.index(largest[rows, slots])
    weights = np.exp2((ends[rows, slots] - reference_at[rows]) / HALF_LIFE_S)
    found["memory"] = summed(cells, weights, (len(kept), MEMORY.count))
    last_peak = largest[np.arange(len(kept)), days.argmax(axis=1)]
    found["head"][:, 0] = [one.cpu_reference_at for one in kept]
    found["head"][:, 1] = found["head"][:, 2] = reference_at
    found["head"][:, 3] = last_peak
    return found


def _fine(kept: Sequence[SavedUsage]) -> npt.NDArray[np.void]:
    """A row of the second stream for each, without its replicas."""
    found = np.zeros(len(kept), _FINE_FIXED)
    found["version"] = _FINE
    for name in ("kills", "only_replica", "throttled", "replicas_reference_at"):
        found[name] = [getattr(one, name) for one in kept]
    found["replicas"] = [len(one.replicas) for one in kept]
    found["needed"] = np.stack([one.peaks.needed for one in kept])
    found["cpu"] = np.stack([one.cpu for one in kept])
    return found


def _replicas(kept: SavedUsage) -> bytes:
    if not kept.replicas:
        return b""
    rows = [(one.replica, one.points, one.high, one.last_at, one.cpu) for one in kept.replicas]
    return np.array(rows, _REPLICA).tobytes()


def _fine_of(packed: bytes, known: SavedUsage) -> SavedUsage | None:
    """*known*, with what the second stream says; None where a later version wrote it."""
    content, rest = _stream(packed, _MOST_FINE)
    if len(content) < _VERSION.itemsize or np.frombuffer(content, _VERSION, 1)[0] != _FINE:
        return None
    if len(content) < _FINE_FIXED.itemsize or len(content) > _MOST_FINE:
        raise UnreadableError(f"{len(content)} bytes of details")
    fine = np.frombuffer(content, _FINE_FIXED, 1)
    _, kills, only, throttled, reference_at, count, needed, cpu = fine[0]
    size = len(content) - _FINE_FIXED.itemsize
    if not 0 <= count <= PLACES or size != int(count) * _REPLICA.itemsize:
        raise UnreadableError(f"{len(content)} bytes of details, for {count} replicas")
    _must_be_finite(np.array((throttled, reference_at)), needed, cpu)
    waits = _numbers_of(rest, _WAITS)
    pace = _numbers_of(rest[_NUMBERS.size :], _PACE)
    sampled_s, steps = pace or (known.sampled_s, known.steps)
    cpu_waiting, memory_waiting = waits or (0.0, 0.0)
    return SavedUsage(
        points=known.points,
        first_at=known.first_at,
        last_at=known.last_at,
        step_s=known.step_s,
        sampled_s=sampled_s,
        steps=steps,
        heard_at=known.heard_at,
        cpu_reference_at=known.cpu_reference_at,
        cpu=cpu.copy(),
        peaks=Peaks(known.peaks.largest, known.peaks.days, needed.copy()),
        throttled=float(throttled),
        cpu_waiting=cpu_waiting,
        memory_waiting=memory_waiting,
        kills=int(kills),
        only_replica=int(only),
        replicas_reference_at=float(reference_at),
        replicas=_replicas_of(content) if count else (),
    )


def _numbers_of(content: bytes, version: int) -> tuple[float, float] | None:
    """Earlier versions did not write any, and a later one's are not read."""
    if len(content) < _NUMBERS.size:
        return None
    written, first, second = _NUMBERS.unpack_from(content)
    if written != version:
        return None
    if not (math.isfinite(first) and math.isfinite(second)):
        raise UnreadableError(_NOT_FINITE)
    return first, second


def _replicas_of(content: bytes) -> tuple[SavedReplica, ...]:
    rows = np.frombuffer(content, _REPLICA, offset=_FINE_FIXED.itemsize)
    _must_be_finite(rows["high"], rows["last_at"], rows["cpu"])
    return tuple(
        SavedReplica(replica=replica, points=points, high=high, last_at=last_at, cpu=cpu)
        for replica, points, high, last_at, cpu in zip(
            *(rows[name].tolist() for name in ("replica", "points", "high", "last_at")),
            rows["cpu"].copy(),
            strict=True,
        )
    )


def _must_be_finite(*parts: npt.NDArray[np.floating]) -> None:
    if not all(np.isfinite(part).all() for part in parts):
        raise UnreadableError(_NOT_FINITE)
