"""A secret on its way to its caller."""

from dataclasses import dataclass

from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

from nemutator_agent.credentials.documents import Document
from nemutator_agent.credentials.refusals import without_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Fulfils the port `Answer`."""

    name: str
    value: Secret
    is_whole: bool
    version: int | None
    stale: bool = False


def picked(name: str, reference: Reference, document: Document, *, stale: bool = False) -> Delivery:
    """What *reference* means of *document*; a Refusal when there is no such key."""
    if reference.key is None:
        value: Secret | None = document.content
    else:
        value = document.value(reference.key)
    if value is None:
        raise without_key(reference, document.keys())
    return Delivery(
        name=name,
        value=value,
        is_whole=reference.key is None,
        version=document.version,
        stale=stale,
    )
