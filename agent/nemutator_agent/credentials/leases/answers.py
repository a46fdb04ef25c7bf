"""What Vault's answers say of secrets that are no KV documents, and of their leases."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from nemutator_agent.credentials.vault.documents import Document, EngineMount, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultAnswer
from nemutator_agent.credentials.vault.failures import (
    SecretMissingError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)

_NOT_READ = "it is an engine of kind"


def document_of(answer: VaultAnswer, mount: EngineMount) -> Document:
    """The secret that Vault has given for a read in *mount*; raises a VaultError."""
    check(answer, mount)
    data = answer.document.get("data")
    if not isinstance(data, Mapping):
        raise UnsupportedSecretError(
            f"{mount.path}: {_NOT_READ} {mount.kind}, with nothing to read"
        )
    return Document.of(data, None, lease=lease_of(answer.document))


def lease_of(document: Mapping[str, Any]) -> GivenLease | None:
    lease, ttl = document.get("lease_id"), document.get("lease_duration")
    if not isinstance(lease, str) or not lease or not isinstance(ttl, int) or ttl <= 0:
        return None
    return GivenLease(lease, float(ttl), document.get("renewable") is True)


def check(answer: VaultAnswer, mount: EngineMount) -> None:
    """Raises the VaultError that a refusal is."""
    if answer.status < HTTPStatus.BAD_REQUEST:
        return
    raise _failure(answer, mount)


def _failure(answer: VaultAnswer, mount: EngineMount) -> VaultError:
    words = answer.document.get("errors")
    why = "; ".join(words) if isinstance(words, list) and words else f"status {answer.status}"
    match answer.status:
        case HTTPStatus.NOT_FOUND:
            return SecretMissingError("nothing is at this path")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return UnsupportedSecretError(f"{mount.path}: {_NOT_READ} {mount.kind}; {why}")
        case HTTPStatus.TOO_MANY_REQUESTS:
            return VaultUnavailableError("busy", why)
        case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return VaultUnavailableError("down", why)
    return VaultDeniedError(why)
