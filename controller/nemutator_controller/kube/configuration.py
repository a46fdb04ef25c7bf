"""Where an API server is, and how to get in."""

from dataclasses import dataclass

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Everything that a connection needs, read from wherever it is kept. Certificates are PEM."""

    server: str
    """URL without a slash at its end."""
    ca: str | None = None
    """None: the authorities that the machine trusts."""
    token: Secret | None = None
    client_certificate: str | None = None
    client_key: Secret | None = None
    server_name: str | None = None
    """What the server's certificate must say, when that is not the host of the URL."""
    insecure: bool = False
    """Do not check the server's certificate: a kubeconfig can say so, we never do."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A `Configuration` that stays what it is."""

    given: Access

    async def access(self, *, renew: bool = False) -> Access:
        return self.given
