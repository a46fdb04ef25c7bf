"""What our own processes ask another one of ours: a GET or a POST with a bearer token and a body of known length.

As in `plain_requests.py`, whatever is not exactly of this form is left to the HTTP parser, which has to agree about all that is
understood here. Nothing of a head is kept: it has a secret.
"""

import re
from typing import NamedTuple

from nemutator_common.secret import Secret

MOST_HEAD_BYTES = 4 << 10
"""A token of a service account has a thousand."""

MOST_BODY_BYTES = 64 << 10
"""Larger ones are left to the parser, which takes no more of a body than it has room for."""

_LINE = re.compile(
    rb"(GET|POST) ((?:/[A-Za-z0-9_-][A-Za-z0-9._-]*){1,8})(?:\?([A-Za-z0-9=&._-]{1,600}))? HTTP/1\.1"
)
_HEADER = re.compile(rb"([A-Za-z-]{1,32}):[ ]?([!-~](?:[ -~]{0,2046}[!-~])?)")
_LENGTH = re.compile(rb"[1-9][0-9]{0,8}")
_HOST = re.compile(rb"(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
# Nothing here could encode the body, announce another length of it, or end the connection.
_UNIMPORTANT = frozenset({b"user-agent", b"accept", b"accept-encoding", b"accept-language"})

_END = b"\r\n\r\n"


class TokenHead(NamedTuple):
    method: str
    path: str
    query: str
    authorization: Secret
    content_type: str
    size: int
    """Of the head."""
    length: int
    """Of the body."""


class TokenRequest(NamedTuple):
    head: TokenHead
    body: bytes
    remote: str
    """The address that it came from."""


def parse_token_head(data: bytes) -> TokenHead | None:
    """The head with which *data* begins; None when not all of it is there, or it is anything else."""
    end = data.find(_END, 0, MOST_HEAD_BYTES)
    if end < 0:
        return None
    first, *lines = data[:end].split(b"\r\n")
    line = _LINE.fullmatch(first)
    headers = _headers(lines)
    if line is None or headers is None:
        return None
    authorization = headers.pop(b"authorization", b"")
    host, length = headers.pop(b"host", b""), headers.pop(b"content-length", b"")
    content_type = headers.pop(b"content-type", b"")
    connection = headers.pop(b"connection", b"keep-alive")
    method, path, query = line.groups(b"")
    if (
        authorization[:7].lower() != b"bearer "
        or not _HOST.fullmatch(host)
        or connection.lower() != b"keep-alive"
        or headers.keys() - _UNIMPORTANT
        # A GET has no body, and a POST says how long its own is.
        or (_LENGTH.fullmatch(length) is None if method == b"POST" else length)
    ):
        return None
    return TokenHead(
        method.decode("ascii"),
        path.decode("ascii"),
        query.decode("ascii"),
        Secret(authorization.decode("ascii")),
        content_type.decode("ascii"),
        end + len(_END),
        int(length or 0),
    )


def _headers(lines: list[bytes]) -> dict[bytes, bytes] | None:
    found: dict[bytes, bytes] = {}
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None or (name := header[1].lower()) in found:
            return None
        found[name] = header[2]
    return found
