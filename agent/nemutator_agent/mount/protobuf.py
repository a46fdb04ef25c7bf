"""The wire format of protocol buffers, by hand, for the few small messages of CSI.

This process may take 24 MiB on every node, so it does without the package `protobuf`. A message is a
row of fields, each with a number, a kind and a content; callers know what they mean.
"""

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5

_WORD = 1 << 64
_LONGEST_VARINT = 10
_LARGEST_NUMBER = (1 << 29) - 1
"""The largest number of a field, by the specification."""


class MalformedMessageError(ValueError):
    """These bytes are not a message."""


class ProtobufField(NamedTuple):
    number: int
    kind: int
    """VARINT, FIXED_64, BYTES or FIXED_32."""
    value: int
    """The value of a varint, without sign, or of a fixed number; 0 for bytes."""
    content: bytes
    """The content of a text, of bytes, of a message within; empty for numbers."""


class Message:
    """Fields in the order of the calls; zeros and empty texts are left out."""

    def __init__(self) -> None:
        self._out = bytearray()

    def number(self, field: int, value: int) -> None:
        """An integer from 0 on, or a boolean."""
        if value:
            write_varint(self._out, field << 3 | VARINT)
            write_varint(self._out, value)

    def text(self, field: int, value: str) -> None:
        if value:
            self.message(field, value.encode("utf-8", "replace"))

    def message(self, field: int, content: bytes) -> None:
        """Bytes, or a message: written even when empty, because an empty message is a message."""
        write_varint(self._out, field << 3 | BYTES)
        write_varint(self._out, len(content))
        self._out += content

    def encoded(self) -> bytes:
        return bytes(self._out)


def write_varint(out: bytearray, value: int) -> None:
    """Append *value*, from 0 to 2^64 - 1."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def read_varint(message: bytes, position: int) -> tuple[int, int]:
    """The number at *position*, without sign, and where the next field begins."""
    value = shift = 0
    for at in range(position, min(position + _LONGEST_VARINT, len(message))):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value % _WORD, at + 1
        shift += 7
    raise MalformedMessageError("a number has no end")


def fields(message: bytes) -> Iterator[ProtobufField]:
    """All fields in their order; at most one for two bytes. Raises MalformedMessageError."""
    position, end = 0, len(message)
    while position < end:
        tag, position = read_varint(message, position)
        number, kind = tag >> 3, tag & 7
        if not 0 < number <= _LARGEST_NUMBER:
            raise MalformedMessageError(f"no field has the number {number}")
        if kind == VARINT:
            value, position = read_varint(message, position)
            yield ProtobufField(number, VARINT, value, b"")
        elif kind == BYTES:
            length, start = read_varint(message, position)
            position = start + length
            if position > end:
                raise MalformedMessageError("a field is longer than its message")
            yield ProtobufField(number, BYTES, 0, message[start:position])
        elif kind in (FIXED_32, FIXED_64):
            start, position = position, position + (4 if kind == FIXED_32 else 8)
            if position > end:
                raise MalformedMessageError("a field is longer than its message")
            value = int.from_bytes(message[start:position], "little")
            yield ProtobufField(number, kind, value, b"")
        else:
            raise MalformedMessageError(f"no such kind of field: {kind}")
