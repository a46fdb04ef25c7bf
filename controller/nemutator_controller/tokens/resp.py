"""RESP, the protocol of Redis: commands as bytes, and bytes as replies, in versions 2 and 3.

A reply is decoded as it comes, each of its bytes once; none that is larger than any of ours may be is
waited for.
"""

import enum
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

LARGEST = 8 << 20
"""Bytes of a reply."""

DEEPEST = 4
MOST_ITEMS = 100_000

T = TypeVar("T")

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


class _Need(enum.Enum):
    MORE = enum.auto()
    """The buffer ends within a reply."""


_Part: TypeAlias = Generator[_Need, None, T]
"""What makes a part of a reply: it asks for more bytes until it has all of that part."""


def command(*words: str | bytes) -> bytes:
    encoded = [word.encode() if isinstance(word, str) else word for word in words]
    parts = [b"*%d\r\n" % len(encoded)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded]
    return b"".join(parts)


class ReplyDecoder:
    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        """What is before it has been decoded."""
        self._size = 0
        """Bytes of the reply that is coming, as far as they are not in the buffer any more."""
        self._found = self._replies()

    def feed(self, data: bytes) -> Iterator[Reply]:
        """The replies that are complete with *data*; raises `RespError`, after which nothing is."""
        self._buffer += data
        for found in self._found:
            if isinstance(found, _Need):
                break
            yield found
        del self._buffer[: self._at]
        self._size += self._at
        self._at = 0
        if self._size + len(self._buffer) > LARGEST:
            raise RespError(f"a reply of more than {LARGEST} bytes")

    def _replies(self) -> "Generator[_Need | Reply, None, None]":
        while True:
            reply = yield from self._reply(DEEPEST)
            self._size = -self._at
            yield reply

    def _reply(self, levels: int) -> _Part[Reply]:
        line = yield from self._line()
        kind, line = line[:1], line[1:]
        match kind:
            case b"+" | b"," | b"(":
                return line
            case b"-":
                return RedisError(line.decode(errors="replace")[:200])
            case b":":
                return _number(line)
            case b"#":
                return int(line == b"t")
            case b"_":
                return None
            case b"$" | b"=" | b"!":
                return (yield from self._bulk(kind, _number(line)))
            case b"*" | b"~" | b">" | b"%":
                count = _number(line) * (2 if kind == b"%" else 1)
                return (yield from self._several(kind, count, levels))
        raise RespError(f"no reply begins with {kind!r}")

    def _bulk(self, kind: bytes, length: int) -> _Part[Reply]:
        if length == -1:
            return None
        if not 0 <= length <= LARGEST:
            raise RespError(f"a text of {length} bytes")
        text = yield from self._taken(length)
        if (yield from self._taken(2)) != b"\r\n":
            raise RespError("a text that is longer than its length")
        return RedisError(text.decode(errors="replace")[:200]) if kind == b"!" else text

    def _several(self, kind: bytes, count: int, levels: int) -> _Part[Reply]:
        if count == -1:
            return None
        if not 0 <= count <= MOST_ITEMS or not levels:
            raise RespError(f"a list of {count} items, or one that is nested too deeply")
        items: list[Reply] = []
        for _ in range(count):
            items.append((yield from self._reply(levels - 1)))
        return Push(items) if kind == b">" else items

    def _line(self) -> _Part[bytes]:
        searched = 0
        while (end := self._buffer.find(b"\r\n", self._at + searched)) < 0:
            # Its last byte may be half of an end.
            searched = max(0, len(self._buffer) - self._at - 1)
            yield _Need.MORE
        line = bytes(self._buffer[self._at : end])
        self._at = end + 2
        return line

    def _taken(self, length: int) -> _Part[bytes]:
        while len(self._buffer) - self._at < length:
            yield _Need.MORE
        taken = bytes(self._buffer[self._at : self._at + length])
        self._at += length
        return taken


def _number(line: bytes) -> int:
    digits = line.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > 18:
        raise RespError("a number was expected")
    return int(line)
