"""What the database keeps of history: one cell of many rows at once, as bytes.

Rows change each minute, cells only once or twice: cells are what is saved. A slice is one cell (a minute, five
minutes, an hour of the week) of some thousand rows with all its figures, by name, so that versions with more
figures or fewer read each other's.
"""

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nemutator_controller.history.row_keys import RowKey

Level = Literal["heard", "minutes", "days", "weeks"]
"""`heard` has one slice: when each row was reported last."""

LEVELS: tuple[Level, ...] = ("heard", "minutes", "days", "weeks")

PART = 2_048
"""Rows in one slice: some 30 KB before they are compressed."""

Matrix = npt.NDArray[np.generic]

_HEAD = struct.Struct("<I")
_LARGEST_HEAD = 16 << 10
_LARGEST = 1 << 20
_KINDS: dict[str, np.dtype[np.generic]] = {
    "f8": np.dtype("<f8"),
    "f4": np.dtype("<f4"),
    "u2": np.dtype("<u2"),
    "u1": np.dtype("<u1"),
}


class UnreadableSliceError(ValueError):
    """The bytes are not a slice of ours."""


@dataclass(frozen=True, slots=True)
class SliceName:
    level: Level
    part: int
    """Which rows: those from `part * PART`."""
    cell: int
    """Its place, so that what comes round again takes the place of what it was."""


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    name: SliceName
    moment: int
    """Which minute, five minutes or week it is, counted from the epoch."""
    saved: int
    """The number of the save that wrote it."""
    arrays: Mapping[str, Matrix]


@dataclass(frozen=True, slots=True)
class SavedRow:
    number: int
    key: RowKey
    since: int
    """The number of the first save that has it: slices of an earlier one are of another row's time."""


def packed(arrays: Mapping[str, Matrix]) -> bytes:
    shapes = {name: [_kind(array), *array.shape] for name, array in arrays.items()}
    head = json.dumps(shapes, separators=(",", ":")).encode()
    content = b"".join(
        np.ascontiguousarray(array, _KINDS[_kind(array)]).tobytes() for array in arrays.values()
    )
    return _HEAD.pack(len(head)) + head + zlib.compress(content, 1)


def unpacked(content: bytes) -> dict[str, Matrix]:
    """What `packed` made *content* of; raises `UnreadableSliceError`."""
    try:
        (length,) = _HEAD.unpack_from(content)
        if length > _LARGEST_HEAD:
            raise UnreadableSliceError("its head is too long")
        shapes = json.loads(content[_HEAD.size : _HEAD.size + length])
        body = zlib.decompressobj().decompress(content[_HEAD.size + length :], _LARGEST)
        arrays: dict[str, Matrix] = {}
        taken = 0
        for name, (kind, *shape) in shapes.items():
            count = int(np.prod([int(side) for side in shape]))
            array = np.frombuffer(body, _KINDS[kind], count, taken).reshape(shape)
            taken += array.nbytes
            arrays[name] = array
    except (ValueError, TypeError, KeyError, AttributeError, struct.error, zlib.error) as error:
        raise UnreadableSliceError(str(error)) from error
    if taken != len(body):
        raise UnreadableSliceError(f"{len(body)} bytes, expected {taken}")
    return arrays


def _kind(array: Matrix) -> str:
    return f"{array.dtype.kind}{array.dtype.itemsize}"
