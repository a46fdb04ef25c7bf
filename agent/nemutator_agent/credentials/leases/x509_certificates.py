"""For how long an X.509 certificate is good, by its own two dates (RFC 5280, 4.1.2.5)."""

import base64
import binascii
import re
from datetime import UTC, datetime

_PEM = re.compile(
    r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]{1,65536})-----END CERTIFICATE-----"
)
_SEQUENCE = 0x30
_VERSION = 0xA0
_FORMS = {0x17: "%y%m%d%H%M%SZ", 0x18: "%Y%m%d%H%M%SZ"}
"""UTCTime, which ends with 2049, and GeneralizedTime."""


def lifetime_s(certificate: str) -> float | None:
    """Of the first certificate in PEM; None of what is none."""
    found = _PEM.search(certificate)
    if found is None:
        return None
    try:
        content = base64.b64decode("".join(found[1].split()), validate=True)
        at = _inside(content, _inside(content, 0))
        if content[at] == _VERSION:
            at = _behind(content, at)
        # Serial number, algorithm and issuer.
        for _ in range(3):
            at = _behind(content, at)
        begins = _inside(content, at)
        first, last = _time(content, begins), _time(content, _behind(content, begins))
    except (binascii.Error, IndexError, KeyError, ValueError):
        return None
    return max((last - first).total_seconds(), 0.0)


def _inside(content: bytes, at: int) -> int:
    if content[at] != _SEQUENCE:
        raise ValueError("expected a sequence")
    return _bounds(content, at)[0]


def _behind(content: bytes, at: int) -> int:
    return _bounds(content, at)[1]


def _bounds(content: bytes, at: int) -> tuple[int, int]:
    """Where the content of what lies there begins, and what lies behind it."""
    size, at = content[at + 1], at + 2
    if size & 0x80:
        digits = size & 0x7F
        size, at = int.from_bytes(content[at : at + digits]), at + digits
    return at, at + size


def _time(content: bytes, at: int) -> datetime:
    begin, end = _bounds(content, at)
    text = content[begin:end].decode("ascii")
    return datetime.strptime(text, _FORMS[content[at]]).replace(tzinfo=UTC)
