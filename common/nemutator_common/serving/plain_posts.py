"""The question that one machine asks another again and again: a POST with a plain path and a body of known length.

As in `plain_requests.py`, whatever is not exactly of this form is left to the HTTP parser, which has to
agree about all that is understood here.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

MOST_HEAD_BYTES = 1 << 10

_SEGMENT = rb"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_VALUE = rb":[ ]?[!-~](?:[ -~]{0,254}[!-~])?\r\n"
# Nothing here could encode the body, announce another length of it, or end the connection.
_UNIMPORTANT = (
    rb"(?:(?i:User-Agent|Accept|Accept-Encoding|Accept-Language|Content-Type|Traceparent|Tracestate|Audit-Id)"
    + _VALUE
)
_HEADERS = _UNIMPORTANT + rb"|(?i:Connection:[ ]?keep-alive)\r\n){0,8}"
_HOST = rb"(?i:Host):[ ]?(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?\r\n"
_LENGTH = rb"(?i:Content-Length):[ ]?([1-9][0-9]{0,8})\r\n"
_HEAD = re.compile(
    rb"POST ((?:/" + _SEGMENT + rb"){1,8})(?:\?[A-Za-z0-9=_-]{1,64})? HTTP/1\.1\r\n"
    + _HEADERS + _HOST + _HEADERS + _LENGTH + _HEADERS + rb"\r\n"
)  # fmt: skip

_END = b"\r\n\r\n"
_TRACE_PARENT = re.compile(rb"\r\n(?i:Traceparent):[ ]?([!-~]+)\r\n")


class PlainPost(NamedTuple):
    path: str
    body: bytes
    remote: str
    """The address that it came from."""
    certificate: Mapping[str, Any] | None
    """The client's, whose signature was verified; None: it has shown none."""
    trace_parent: str = ""
    """Of which trace it is a part, as the client says."""


class PostHead(NamedTuple):
    path: str
    size: int
    """Of the head."""
    length: int
    """Of the body."""
    trace_parent: str = ""


class HeadOfKnownSize(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def length(self) -> int: ...


H = TypeVar("H", bound=HeadOfKnownSize)


class ArrivingPost(Generic[H]):
    """A request of which a part has come in."""

    __slots__ = ("_pieces", "head", "missing")

    def __init__(self, head: H) -> None:
        self.head = head
        self._pieces: list[bytes] = []
        self.missing = head.size + head.length
        """Bytes of it; fewer than none where something else follows it."""

    def add(self, data: bytes) -> None:
        self._pieces.append(data)
        self.missing -= len(data)

    @property
    def is_first_piece(self) -> bool:
        return len(self._pieces) == 1

    @property
    def received(self) -> bytes:
        return b"".join(self._pieces)

    @property
    def body(self) -> bytes:
        """Once nothing is missing."""
        return self.received[self.head.size :]


class _NotPlainError(Exception):
    pass


def parse_post_head(data: bytes) -> PostHead | None:
    """The head with which *data* begins; None when not all of it is there, or it is anything else."""
    end = data.find(_END, 0, MOST_HEAD_BYTES)
    try:
        return _parsed(data[: end + len(_END)]) if end >= 0 else None
    except _NotPlainError:
        return None


@lru_cache(maxsize=256)
def _parsed(head: bytes) -> PostHead:
    """A client sends the same bytes each time but for the length, and many of those are the same.

    Heads that are not plain may hold a secret, and are not kept.
    """
    match = _HEAD.fullmatch(head)
    if match is None or _repeats_a_header(head):
        raise _NotPlainError
    parent = _TRACE_PARENT.search(head)
    said = parent[1].decode("ascii") if parent else ""
    return PostHead(match[1].decode("ascii"), len(head), int(match[2]), said)


def _repeats_a_header(head: bytes) -> bool:
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:-2]]
    return len(set(names)) < len(names)
