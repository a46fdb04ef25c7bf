"""As much of the protobuf wire format as a CSI driver of strings, maps and booleans needs."""

from collections.abc import Iterator

VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each field that holds bytes: strings, messages, entries of maps."""
    at = 0
    while at < len(message):
        tag, at = _number(message, at)
        kind = tag & 7
        if kind == BYTES:
            length, at = _number(message, at)
            yield tag >> 3, message[at : at + length]
            at += length
        elif kind == VARINT:
            _, at = _number(message, at)
        elif kind in (FIXED_64, FIXED_32):
            at += 8 if kind == FIXED_64 else 4
        else:
            raise ValueError(f"no such kind of field: {kind}")


def text(message: bytes, number: int) -> str:
    """The last field of that number, as protobuf has it; empty when there is none."""
    found = [content for field, content in fields(message) if field == number]
    return found[-1].decode() if found else ""


def mapping(message: bytes, number: int) -> dict[str, str]:
    entries = (content for field, content in fields(message) if field == number)
    return {text(entry, 1): text(entry, 2) for entry in entries}


def string(number: int, value: str) -> bytes:
    content = value.encode()
    return _varint(number << 3 | BYTES) + _varint(len(content)) + content


def _number(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
