"""How a call to Vault can fail: each kind has a consequence of its own."""

import re
from typing import ClassVar, Literal, Self

Outage = Literal["timeout", "down", "sealed", "busy", "crowded", "unsettled", "tls", "malformed"]
"""timeout: no answer in time; down: no connection, or a 5xx; sealed: Vault answers, and cannot
read its own storage; busy: a 429; crowded: too many calls of our own wait; unsettled: a login is
refused without a reason, as it is where Vault cannot ask the API server; tls: the certificate is
not accepted; malformed: the answer is not one of Vault's."""

STALE_FOR: frozenset[Outage] = frozenset(
    {"timeout", "down", "sealed", "busy", "crowded", "unsettled"}
)
"""Outages during which what was read before is still given for a while: not when another server
answers in Vault's place, and never after a denial by Vault itself."""

UNDONE: frozenset[Outage] = frozenset({"sealed", "busy", "crowded", "unsettled", "tls"})
"""Outages in which Vault has certainly done nothing. In others it may have done what was asked."""

LONGEST = 300

_NO_KEYS = "fetching keys"
_BARE = re.compile(r"(1 error occurred: \* )?permission denied")


class VaultError(Exception):
    """*why* is for people. It may come from another server, so it is shortened here."""

    kind: ClassVar[str]

    def __init__(self, why: str) -> None:
        shown = "".join(char if char.isprintable() else " " for char in why[:LONGEST])
        self.why = " ".join(shown.split())
        super().__init__(self.why)

    def again(self) -> Self:
        """A new one each time: the old one would keep the frames of all who have caught it."""
        return type(self)(self.why)


class VaultUnavailableError(VaultError):
    """Asking again later may help: after *retry_after_s*, where that is known."""

    kind = "unavailable"

    def __init__(self, reason: Outage, why: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(why)
        self.reason = reason
        self.retry_after_s = retry_after_s

    def again(self) -> Self:
        return type(self)(self.reason, self.why, retry_after_s=self.retry_after_s)


class LargeAnswerError(VaultUnavailableError):
    """More than is read of any answer."""


class VaultNotAskedError(VaultUnavailableError):
    """Vault was not asked, because it has failed just now."""


class LoginRefusedError(VaultError):
    """Vault does not take this account's token for this role."""

    kind = "login"

    @property
    def without_reason(self) -> bool:
        """Vault answers so, too, where it could not ask the API server about the account or for its
        keys."""
        return _BARE.fullmatch(self.why) is not None or _NO_KEYS in self.why


class NoAccountTokenError(VaultError):
    """Kubelet gave no token to log in with, or none for Vault."""

    kind = "token"


class LoginFileError(NoAccountTokenError):
    """A file that this machine logs in with cannot be used."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy

    def again(self) -> Self:
        return type(self)(self.why, self.remedy)


class VaultDeniedError(VaultError):
    """Vault knows the caller, and denies the request."""

    kind = "denied"


class TokenGoneError(VaultError):
    """Vault does not know this token any more: it was revoked, or its lease has ended."""

    kind = "gone"


class SecretMissingError(VaultError):
    """There is nothing to read at that path, and the caller may know that."""

    kind = "missing"


class UnsupportedSecretError(VaultError):
    """This agent cannot hand out what is at that path."""

    kind = "unsupported"


class TokenShownError(UnsupportedSecretError):
    """What was read has the token that the node keeps for the pod."""

    def __init__(
        self, why: str = "the answer has the token that the node keeps for this pod"
    ) -> None:
        super().__init__(why)
