"""The address of an API server, and the credentials for it."""

from dataclasses import dataclass

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Everything that a connection needs. Certificates are PEM."""

    server: str
    """URL without a slash at its end."""
    ca: str | None = None
    """None: the authorities that the machine trusts."""
    token: Secret | None = None
    client_certificate: str | None = None
    client_key: Secret | None = None
    server_name: str | None = None
    """The name in the server's certificate, when that is not the host of the URL."""
    insecure: bool = False
    """Do not check the server's certificate: a kubeconfig can ask for that, we never do."""
