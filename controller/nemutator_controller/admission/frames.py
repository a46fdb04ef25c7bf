"""Frames of records in a file, by which a torn or damaged end is noticed.

A frame is the length of its record and the record's CRC-32, of four bytes each, then the record.
"""

import struct
import zlib
from collections.abc import Iterator

_HEAD = struct.Struct(">II")

LARGEST = 1 << 20
"""Bytes of one record. A greater length is damage."""

OVERHEAD = _HEAD.size


class NotSavedError(Exception):
    """The record was not saved, so the pod must not be changed. `reason` is for the metric."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


def frame(record: bytes) -> bytes:
    """The frame of *record*, which has 1 to LARGEST bytes."""
    if not 0 < len(record) <= LARGEST:
        raise ValueError(f"a record of {len(record)} bytes")
    return _HEAD.pack(len(record), zlib.crc32(record)) + record


def frames_in(content: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of each whole record, up to the first that is not whole."""
    at = 0
    while at + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, at)
        begin, end = at + _HEAD.size, at + _HEAD.size + length
        # A crash can leave zeros in a file, which would be a frame of an empty record.
        if not 0 < length <= LARGEST or end > len(content):
            return
        if zlib.crc32(content[begin:end]) != checksum:
            return
        yield begin, end
        at = end
