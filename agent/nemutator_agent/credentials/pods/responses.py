"""A secret of Vault, as its caller gets it."""

from dataclasses import dataclass

from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

from nemutator_agent.credentials.http_refusals import without_key
from nemutator_agent.credentials.vault.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSecretResponse:
    """Fulfils the port `SecretResponse`. All that wait for their turn share their document."""

    name: str
    document: Document
    reference: Reference
    stale: bool = False

    @property
    def value(self) -> Secret:
        key = self.reference.key
        value = self.document.content if key is None else self.document.value(key)
        if value is None:
            raise without_key(self.reference, self.document.keys())
        return value

    @property
    def is_whole(self) -> bool:
        return self.reference.key is None

    @property
    def version(self) -> int | None:
        return self.document.version


def picked(
    name: str, reference: Reference, document: Document, *, stale: bool = False
) -> VaultSecretResponse:
    """The part of *document* that *reference* names; an HttpRefusal when there is no such key."""
    response = VaultSecretResponse(name=name, document=document, reference=reference, stale=stale)
    _ = response.value
    return response
