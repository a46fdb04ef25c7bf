"""The part of HTTP/1.1 that requests to our own process need: aiohttp would take 10 MiB here."""

import re
from dataclasses import dataclass

LARGEST_ANSWER = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?\r\n")
_PATH = re.compile(r"/[A-Za-z0-9/_.-]*")


class NoAnswerError(ValueError):
    """What came is not an HTTP response."""


@dataclass(frozen=True, slots=True)
class CredentialsResponse:
    status: int
    body: bytes


def request(method: str, path: str, body: bytes = b"") -> bytes:
    """A request whose answer ends with its connection."""
    if not _PATH.fullmatch(path):
        raise ValueError(f"not a path of ours: {path!r}")
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: credentials",
        "Connection: close",
        f"Content-Length: {len(body)}",
    ]
    if body:
        lines.append("Content-Type: application/json")
    return "\r\n".join([*lines, "", ""]).encode() + body


def parse_answer(received: bytes) -> CredentialsResponse:
    """The response in what was *received* until the connection ended; else a NoAnswerError."""
    if len(received) > LARGEST_ANSWER:
        raise NoAnswerError(f"an answer of more than {LARGEST_ANSWER} bytes")
    status = _STATUS.match(received)
    _, end, body = received.partition(b"\r\n\r\n")
    if status is None or not end:
        raise NoAnswerError("not an HTTP response")
    return CredentialsResponse(int(status[1]), body)
