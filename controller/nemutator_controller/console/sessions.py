"""Who may use the console: one-time links and the sessions that they open.

Both are known by digest only, so that neither a dump of this process nor its database opens
anything. Time and randomness come from outside.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from nemutator_common.secret import Secret

LINK_S = 600.0
MOST_LINKS = 16
MOST_SESSIONS = 32
"""The oldest makes room: whoever may ask for a link may fill this, and must not fill memory."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody's right to use the console until it expires."""

    digest: bytes
    expires_at: float


class Sessions:
    def __init__(self, *, session_s: float) -> None:
        self._session_s = session_s
        self._links: dict[bytes, float] = {}
        self._sessions: dict[bytes, float] = {}

    def offer(self, key: Secret, *, now: float) -> None:
        """Let *key* open one session within `LINK_S`."""
        _add(self._links, _digest(key.reveal()), now + LINK_S, now=now, most=MOST_LINKS)

    def redeem(self, key: str, token: Secret, *, now: float) -> Session | None:
        """Use up *key* and let *token* in from now on; None when it is no valid key, or was."""
        offered = _find(self._links, key)
        if offered is None or self._links.pop(offered) <= now:
            return None
        session = Session(_digest(token.reveal()), now + self._session_s)
        _add(self._sessions, session.digest, session.expires_at, now=now, most=MOST_SESSIONS)
        return session

    def admits(self, token: str, *, now: float) -> bool:
        digest = _find(self._sessions, token)
        return digest is not None and self._sessions[digest] > now

    def restore(self, sessions: Iterable[Session], *, now: float) -> None:
        """Let in again who was let in before a restart."""
        for session in sessions:
            _add(self._sessions, session.digest, session.expires_at, now=now, most=MOST_SESSIONS)


def _digest(text: str) -> bytes:
    # Lone surrogates, which a query can decode to, have no UTF-8.
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _find(known: dict[bytes, float], text: str) -> bytes | None:
    asked = _digest(text)
    # All of them, each in constant time: how long it takes says nothing about what is known.
    matches = [digest for digest in known if hmac.compare_digest(digest, asked)]
    return matches[0] if matches else None


def _add(
    known: dict[bytes, float], digest: bytes, expires: float, *, now: float, most: int
) -> None:
    for expired in [old for old, until in known.items() if until <= now]:
        del known[expired]
    while len(known) >= most:
        del known[min(known, key=known.__getitem__)]
    known[digest] = expires
