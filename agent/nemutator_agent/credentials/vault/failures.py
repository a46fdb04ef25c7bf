"""How asking Vault can fail: each kind has its own consequence."""

from typing import ClassVar, Literal

Outage = Literal["timeout", "down", "sealed", "busy", "tls", "malformed"]
"""timeout: no answer in time; down: no connection, or a 5xx; sealed: it answers, and cannot read its
own storage; busy: a 429, or too many calls of our own; tls: whoever answers is not known; nonsense:
the answer does not come from a Vault."""

STALE_FOR: frozenset[Outage] = frozenset({"timeout", "down", "sealed", "busy"})
"""Outages during which what was read before still counts for a while. Not when somebody else
answers in Vault's place, and never after a no of Vault's own."""

UNDONE: frozenset[Outage] = frozenset({"sealed", "busy", "tls"})
"""Outages in which Vault has done nothing. In the others it may have done what it was asked."""

LONGEST = 300


class VaultError(Exception):
    """*why* is for people, and came from elsewhere: it is shortened here."""

    kind: ClassVar[str]

    def __init__(self, why: str) -> None:
        shown = "".join(char if char.isprintable() else " " for char in why[:LONGEST])
        self.why = " ".join(shown.split())
        super().__init__(self.why)


class VaultUnavailableError(VaultError):
    """Asking again later may help."""

    kind = "unavailable"

    def __init__(self, reason: Outage, why: str) -> None:
        super().__init__(why)
        self.reason = reason


class LoginRefusedError(VaultError):
    """Vault does not take this account's token for this role."""

    kind = "login"


class NoAccountTokenError(VaultError):
    """There is nothing to log in with: kubelet gave no token, or not for Vault."""

    kind = "token"


class VaultDeniedError(VaultError):
    """Vault knows who asks, and says no."""

    kind = "denied"


class TokenGoneError(VaultError):
    """Vault does not know this token any more: it was revoked, or its time is over."""

    kind = "gone"


class SecretMissingError(VaultError):
    """There is nothing to read at that place, and the caller may know that."""

    kind = "missing"


class UnsupportedSecretError(VaultError):
    """What lies at that place cannot be handed out by this agent."""

    kind = "unsupported"
