"""The request that most callers send: a short GET with a plain path, whole in one piece.

Whatever is not exactly of this form is left to the HTTP parser, which has to agree about all that is
understood here: that it is one request, for this path, and that nothing belongs to it but its head.
"""

import re
from functools import lru_cache
from typing import NamedTuple

MOST_BYTES = 2 << 10
_USUAL_BYTES = 512
"""Shorter ones are kept: half a MiB at most."""

_SEGMENT = rb"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_VALUE = rb":[ ]?[!-~](?:[ -~]{0,254}[!-~])?\r\n"
# Nothing here could give the request a body, end its connection, or make it more than this request.
_UNIMPORTANT = rb"(?:(?i:User-Agent|Accept|Accept-Encoding|Accept-Language)" + _VALUE
_HEADERS = _UNIMPORTANT + rb"|(?i:Connection:[ ]?keep-alive)\r\n){0,8}"
_HEAD = re.compile(
    rb"GET ((?:/"
    + _SEGMENT
    + rb"){1,8})(?:\?([A-Za-z0-9=_-]{1,64}))? HTTP/1\.1\r\n"
    + _HEADERS
    + rb"(?i:Host):[ ]?[A-Za-z0-9._-]{1,255}(?::[0-9]{1,5})?\r\n"
    + _HEADERS
    + rb"\r\n"
)


class PlainRequest(NamedTuple):
    path: str
    query: str


class _NotPlainError(Exception):
    pass


def parse_plain(data: bytes) -> PlainRequest | None:
    """The request that *data* is, all of it; None when it is anything else."""
    if len(data) > MOST_BYTES:
        return None
    try:
        # A client sends the same bytes each time, and many are the same client.
        return (_known if len(data) <= _USUAL_BYTES else _parsed)(data)
    except _NotPlainError:
        return None


def _parsed(data: bytes) -> PlainRequest:
    match = _HEAD.fullmatch(data)
    if match is None or _repeats_a_header(data):
        raise _NotPlainError
    path, query = match.groups(b"")
    return PlainRequest(path.decode("ascii"), query.decode("ascii"))


_known = lru_cache(maxsize=1024)(_parsed)
"""Of requests that are plain: others may hold a secret, and are not kept."""


def _repeats_a_header(data: bytes) -> bool:
    """The HTTP parser refuses some that are there twice; nobody has a reason to send any of them so."""
    names = [line.partition(b":")[0].lower() for line in data.split(b"\r\n")[1:-2]]
    return len(set(names)) < len(names)
