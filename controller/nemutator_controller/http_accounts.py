"""An account with a system of others: what a request to it carries, from files that are replaced."""

import base64
from dataclasses import dataclass
from typing import Protocol

from nemutator_common.secret import Secret
from nemutator_common.shipping.files import RereadFile


@dataclass(frozen=True, slots=True)
class AccountProof:
    """What one request carries, and what of it may never be said again."""

    headers: dict[str, str]
    secrets: tuple[Secret, ...]


class RequestAccount(Protocol):
    """What requests are sent with."""

    def proof(self) -> AccountProof:
        """Raises `LinkUnavailableError` when a secret cannot be read."""
        ...

    def was_refused(self) -> None:
        """Read what the next request carries anew."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAccount:
    """A `RequestAccount`."""

    user: str = ""
    """With it, *secret* is a password; without, a bearer token."""
    secret: RereadFile | None = None
    tenant: str = ""

    def proof(self) -> AccountProof:
        """Raises `LinkUnavailableError` when the secret cannot be read."""
        tenant = {"X-Scope-OrgID": self.tenant} if self.tenant else {}
        if self.secret is None:
            return AccountProof(tenant, ())
        secret = Secret(self.secret.text())
        if not self.user:
            return AccountProof(tenant | {"Authorization": f"Bearer {secret.reveal()}"}, (secret,))
        # Whoever reads the pair knows the password, too.
        pair = Secret(base64.b64encode(f"{self.user}:{secret.reveal()}".encode()).decode())
        return AccountProof(tenant | {"Authorization": f"Basic {pair.reveal()}"}, (secret, pair))

    def was_refused(self) -> None:
        """The file may hold another secret by now: it is read again next time."""
        if self.secret is not None:
            self.secret.invalidate()


NOBODY = HttpAccount()
