"""Bodies of Prometheus remote write 1.0 (a protobuf WriteRequest in a block of snappy), and what comes of them.

Both are written by hand. The message has three levels and five fields. Snappy's block format allows a stream of
literals alone (its format_description.txt, "a literal is a tag and bytes"), which any decoder reads; it saves
no bytes, and a dependency with compiled code neither. A minute of 20 000 containers is 18 MB.
"""

import struct
from collections.abc import Iterable, Mapping

_DOUBLE = struct.Struct("<d")
_LITERAL = 60 << 2
"""The tag of a literal whose length, less one, follows in one byte; in two for the next code."""
_LONGEST_LITERAL = 1 << 16

_NAME, _VALUE = b"\x0a", b"\x12"
_LABEL, _SAMPLE = b"\x0a", b"\x12"
_SERIES = b"\x0a"
_SAMPLE_VALUE, _SAMPLE_AT = b"\x09", b"\x10"


class RemoteWriteRefusedError(Exception):
    """It will not be taken, however often it is sent."""


class RemoteWriteUnavailableError(Exception):
    """It may be taken later."""

    def __init__(self, why: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(why)
        self.retry_after_s = retry_after_s
        """What the receiver asked for."""


def varint(number: int) -> bytes:
    """A number from 0 as protobuf and snappy write it."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def labels(given: Mapping[str, str]) -> bytes:
    """Labels in the order that the specification wants; those without a value are left out."""
    return b"".join(
        _field(
            _LABEL, _field(_NAME, name.encode()) + _field(_VALUE, value.encode("utf-8", "replace"))
        )
        for name, value in sorted(given.items())
        if value
    )


def series(written_labels: bytes, value: float, at_ms: int) -> bytes:
    """A series with one sample; its *written_labels* are of `labels`, the name's before all others."""
    sample = _SAMPLE_VALUE + _DOUBLE.pack(value) + _SAMPLE_AT + varint(at_ms)
    return _field(_SERIES, written_labels + _field(_SAMPLE, sample))


def body(written_series: Iterable[bytes]) -> bytes:
    return literals(b"".join(written_series))


def literals(content: bytes) -> bytes:
    """*content* as a block of snappy."""
    parts = [varint(len(content))]
    for begin in range(0, len(content), _LONGEST_LITERAL):
        some = content[begin : begin + _LONGEST_LITERAL]
        parts += (bytes([_LITERAL + 4]), (len(some) - 1).to_bytes(2, "little"), some)
    return b"".join(parts)


def _field(tag: bytes, content: bytes) -> bytes:
    return tag + varint(len(content)) + content
