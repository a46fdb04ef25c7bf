"""A secret, as its caller gets it."""

from collections.abc import Callable
from dataclasses import dataclass

from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

from nemutator_agent.credentials.http_refusals import without_key
from nemutator_agent.credentials.vault.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretResponse:
    name: str
    read: Callable[[], Secret]
    """Makes the value when its turn comes: those that wait for theirs share what it is made of."""
    version: int | None
    is_whole: bool = False
    """Whether the value is a JSON object of all values at a path."""
    stale: bool = False

    @property
    def value(self) -> Secret:
        return self.read()


def picked(
    name: str, reference: Reference, document: Document, *, stale: bool = False
) -> SecretResponse:
    """The part of *document* that *reference* names; an HttpRefusal when there is no such key."""
    key = reference.key
    value = None if key is None else document.value(key)
    if key is not None and value is None:
        raise without_key(reference, document.keys())
    return SecretResponse(
        name=name,
        read=lambda: document.content if value is None else value,
        version=document.version,
        is_whole=key is None,
        stale=stale,
    )
