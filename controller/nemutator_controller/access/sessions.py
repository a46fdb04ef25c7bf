"""Secrets that are valid until they expire: sessions, and the links that open them.

They are known by digest only, so that neither a dump of this process nor its database opens
anything. Time and randomness come from outside.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from nemutator_common.secret import Secret

from nemutator_controller.access.digests import digest

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Session(Generic[V]):
    """What the holder of one secret may use until it expires."""

    digest: bytes
    expires_at: float
    value: V


@dataclass(kw_only=True)
class Sessions(Generic[V]):
    lasting_s: float
    most: int
    """A caller who may open sessions may open many, and must not fill memory: the oldest makes room."""
    _open: dict[bytes, Session[V]] = field(default_factory=dict, init=False)

    def open(self, secret: Secret, value: V, *, now: float) -> Session[V]:
        """Give the holder of *secret* the use of *value* from now on."""
        session = Session(digest(secret.reveal()), now + self.lasting_s, value)
        self.restore([session], now=now)
        return session

    def restore(self, sessions: Iterable[Session[V]], *, now: float) -> None:
        """Accept *sessions* again that were open before a restart."""
        for session in sessions:
            self._open.pop(session.digest, None)
            self._open = {key: one for key, one in self._open.items() if one.expires_at > now}
            while len(self._open) >= self.most:
                del self._open[min(self._open, key=lambda key: self._open[key].expires_at)]
            self._open[session.digest] = session

    def find(self, secret: str, *, now: float) -> Session[V] | None:
        """The session of *secret*; None when there is none, or it has ended."""
        # How long the look-up takes depends on a digest, which nobody can steer towards another.
        session = self._open.get(digest(secret))
        return session if session is not None and session.expires_at > now else None

    def use_up(self, secret: str, *, now: float) -> Session[V] | None:
        """The same, for the last time."""
        session = self.find(secret, now=now)
        if session is not None:
            del self._open[session.digest]
        return session
