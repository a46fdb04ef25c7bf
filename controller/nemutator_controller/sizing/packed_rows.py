"""A row of the matrices as bytes, and back: what the database keeps of one container."""

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.buckets import CPU, MEMORY

_FLOAT, _DOUBLE, _DAY = np.dtype("<f4"), np.dtype("<f8"), np.dtype("<i4")
_HEAD = 4
"""Doubles in front: both references, and the open memory window's end and peak."""

DAYS = 14
_SIZE = (
    _HEAD * _DOUBLE.itemsize
    + (CPU.count + MEMORY.count) * _FLOAT.itemsize
    + DAYS * (_DOUBLE.itemsize + _DAY.itemsize)
)


class UnreadableError(ValueError):
    """The bytes are not a row of ours."""


@dataclass(frozen=True, slots=True, eq=False)
class Peaks:
    """Peaks of memory: that of the open window, and the largest of each of the last days."""

    window_end: float
    window_peak: float
    largest: npt.NDArray[np.float64]
    days: npt.NDArray[np.int32]
    """The day of each of them, in days since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavedUsage:
    """All that is known of one container."""

    points: int
    first_at: float
    last_at: float
    step_s: float
    heard_at: float
    cpu_reference_at: float
    cpu: npt.NDArray[np.float32]
    memory_reference_at: float
    memory: npt.NDArray[np.float32]
    peaks: Peaks


def pack(kept: SavedUsage) -> bytes:
    """The arrays of *kept*: mostly zeros, so compressed they are some 200 bytes."""
    peaks = kept.peaks
    head = [kept.cpu_reference_at, kept.memory_reference_at, peaks.window_end, peaks.window_peak]
    parts = (
        (head, _DOUBLE),
        (kept.cpu, _FLOAT),
        (kept.memory, _FLOAT),
        (peaks.largest, _DOUBLE),
        (peaks.days, _DAY),
    )
    return zlib.compress(b"".join(np.asarray(part, kind).tobytes() for part, kind in parts))


def unpack(
    packed: bytes, *, points: int, first_at: float, last_at: float, step_s: float, heard_at: float
) -> SavedUsage:
    """The row that `pack` made *packed* of; raises `UnreadableError`."""
    try:
        content = zlib.decompressobj().decompress(packed, _SIZE + 1)
    except zlib.error as error:
        raise UnreadableError(str(error)) from error
    if len(content) != _SIZE:
        raise UnreadableError(f"{len(content)} bytes, expected {_SIZE}")
    taken = 0

    def take(count: int, kind: "np.dtype[np.generic]") -> npt.NDArray[np.generic]:
        nonlocal taken
        part = np.frombuffer(content, kind, count, taken)
        taken += part.nbytes
        return part

    head = take(_HEAD, _DOUBLE).astype(np.float64)
    cpu, memory = (take(b.count, _FLOAT).astype(np.float32) for b in (CPU, MEMORY))
    largest, days = take(DAYS, _DOUBLE).astype(np.float64), take(DAYS, _DAY).astype(np.int32)
    if not all(np.isfinite(part).all() for part in (head, cpu, memory, largest)):
        raise UnreadableError("it holds a number that is not finite")
    return SavedUsage(
        points=points,
        first_at=first_at,
        last_at=last_at,
        step_s=step_s,
        heard_at=heard_at,
        cpu_reference_at=float(head[0]),
        cpu=cpu,
        memory_reference_at=float(head[1]),
        memory=memory,
        peaks=Peaks(float(head[2]), float(head[3]), largest, days),
    )
