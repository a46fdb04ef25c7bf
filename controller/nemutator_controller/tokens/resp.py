"""RESP, the protocol of Redis: commands as bytes, and bytes as replies, in versions 2 and 3.

A reply is decoded when all of it has come; none that is larger than any of ours may be is waited for.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

LARGEST = 8 << 20
"""Bytes of a reply."""

DEEPEST = 4
MOST_ITEMS = 100_000

Reply: TypeAlias = "bytes | int | RedisError | Push | list[Reply] | None"


class RespError(ValueError):
    """The bytes are no replies."""


@dataclass(frozen=True, slots=True)
class RedisError:
    """A reply that refuses a command."""

    text: str


@dataclass(frozen=True, slots=True)
class Push:
    """What the server sends unasked."""

    items: "list[Reply]"


class _MoreNeeded(Exception):  # noqa: N818 - it is no error
    """The buffer ends within a reply."""


def command(*words: str | bytes) -> bytes:
    encoded = [word.encode() if isinstance(word, str) else word for word in words]
    parts = [b"*%d\r\n" % len(encoded)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded]
    return b"".join(parts)


@dataclass(slots=True)
class ReplyDecoder:
    _buffer: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> Iterator[Reply]:
        """The replies that are complete with *data*; raises `RespError`, after which nothing is."""
        self._buffer += data
        content, at = bytes(self._buffer), 0
        while at < len(content):
            try:
                reply, end = _decoded(content, at, DEEPEST)
            except _MoreNeeded:
                break
            yield reply
            at = end
        del self._buffer[:at]
        if len(self._buffer) > LARGEST:
            raise RespError(f"a reply of more than {LARGEST} bytes")


def _decoded(content: bytes, at: int, levels: int) -> "tuple[Reply, int]":
    end = content.find(b"\r\n", at)
    if end < 0:
        raise _MoreNeeded
    kind, line, at = content[at : at + 1], content[at + 1 : end], end + 2
    match kind:
        case b"+" | b"," | b"(":
            return line, at
        case b"-":
            return RedisError(line.decode(errors="replace")[:200]), at
        case b":":
            return _number(line), at
        case b"#":
            return int(line == b"t"), at
        case b"_":
            return None, at
        case b"$" | b"=" | b"!":
            return _bulk(kind, content, at, _number(line))
        case b"*" | b"~" | b">" | b"%":
            count = _number(line) * (2 if kind == b"%" else 1)
            return _several(kind, content, at, count, levels)
    raise RespError(f"no reply begins with {kind!r}")


def _bulk(kind: bytes, content: bytes, at: int, length: int) -> "tuple[Reply, int]":
    if length == -1:
        return None, at
    if not 0 <= length <= LARGEST:
        raise RespError(f"a text of {length} bytes")
    end = at + length
    if len(content) < end + 2:
        raise _MoreNeeded
    if content[end : end + 2] != b"\r\n":
        raise RespError("a text that is longer than its length")
    text = content[at:end]
    return (RedisError(text.decode(errors="replace")[:200]) if kind == b"!" else text), end + 2


def _several(kind: bytes, content: bytes, at: int, count: int, levels: int) -> "tuple[Reply, int]":
    if count == -1:
        return None, at
    if not 0 <= count <= MOST_ITEMS or not levels:
        raise RespError(f"a list of {count} items, or one that is nested too deeply")
    items: list[Reply] = []
    for _ in range(count):
        item, at = _decoded(content, at, levels - 1)
        items.append(item)
    return (Push(items) if kind == b">" else items), at


def _number(line: bytes) -> int:
    digits = line.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > 18:
        raise RespError("a number was expected")
    return int(line)
