"""Paths as clients of Vault send them: decoded once, and refused where anybody could read them otherwise."""

import re
from urllib.parse import unquote_to_bytes

from nemutator_agent.credentials.http_refusals import HttpRefusal

API = "/v1/"
LONGEST = 1024

_ESCAPES = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")
_HOSTILE = frozenset("%?#\\;")
"""In a path that is decoded already: these would end it elsewhere, or be an escape there once more."""


def decoded(target: str) -> str:
    """The path in Vault that the target of a request names, without `/v1/` and without its query; an
    `HttpRefusal` where it is no plain path."""
    raw, _, _ = target.partition("?")
    if not raw.startswith(API):
        raise _no("a path of Vault's API begins with /v1/")
    if len(raw) > LONGEST:
        raise _no(f"a path has at most {LONGEST} characters")
    if not _ESCAPES.fullmatch(raw):
        raise _no("an escape is % and two hexadecimal digits")
    try:
        path = unquote_to_bytes(raw.removeprefix(API)).decode()
    except UnicodeDecodeError:
        raise _no("a path is UTF-8") from None
    if not path.isprintable() or _HOSTILE & set(path):
        raise _no("characters that do not print, and % ? # ; \\, are not taken in a path")
    # Clients write a slash behind what they list.
    path = path.removesuffix("/")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise _no("a path has no empty segment, and none of dots alone")
    return path


def _no(why: str) -> HttpRefusal:
    return HttpRefusal(
        400, f"this path is not taken: {why}", remedy="write the path as Vault does", step="path"
    )
