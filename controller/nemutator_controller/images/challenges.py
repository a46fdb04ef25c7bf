"""How a registry says in `WWW-Authenticate` where its tokens are (RFC 6750, Docker's token authentication)."""

import re
from dataclasses import dataclass

LONGEST_CHALLENGE = 4096

_SCHEME = re.compile(r"\s*(bearer|basic)\b\s*", re.IGNORECASE)
_PARAMETER = re.compile(r'([a-zA-Z_]+)\s*=\s*(?:"([^"\\]*)"|([^\s",]+))\s*(?:,\s*|$)')


@dataclass(frozen=True, slots=True)
class Challenge:
    """A registry wants a token that *realm* gives."""

    realm: str
    service: str


def wants_password(header: str) -> bool:
    """Whether a registry wants user and password with each question, and has no tokens."""
    scheme = _SCHEME.match(header[:LONGEST_CHALLENGE])
    return scheme is not None and scheme[1].lower() == "basic"


def parse_challenge(header: str) -> Challenge | None:
    """None: it wants something else, or nobody can tell."""
    scheme = _SCHEME.match(header[:LONGEST_CHALLENGE])
    if scheme is None or scheme[1].lower() != "bearer":
        return None
    found: dict[str, str] = {}
    position = scheme.end()
    while one := _PARAMETER.match(header, position, LONGEST_CHALLENGE):
        found.setdefault(one[1].lower(), one[2] if one[2] is not None else one[3])
        position = one.end()
    realm = found.get("realm")
    return Challenge(realm, found.get("service", "")) if realm else None
