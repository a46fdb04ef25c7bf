"""What Vault has answered, kept for a while: documents, and what it said no to."""

from dataclasses import dataclass, field

from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import VaultError

MOST_CACHED = 64
"""Documents of one account: a pod declares no more references."""

MOST_CACHED_BYTES = 512 << 10
"""Two of the largest documents. A pod that declares 64 of those would else have 16 MiB of us."""


@dataclass(frozen=True, slots=True)
class CachedDocument:
    document: Document
    authorised: float
    """When Vault last said that this account may read it, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class CachedDenial:
    """Vault said no: the same request gets the same answer *until* then."""

    error: VaultError
    until: float

    def again(self) -> VaultError:
        """A new one each time: the old would keep the frames of everybody who was told."""
        return type(self.error)(self.error.why)


@dataclass(slots=True)
class DocumentCache:
    """The documents of one account by path; those that were cached first make room."""

    documents: dict[str, CachedDocument] = field(default_factory=dict)

    def get(self, path: str) -> CachedDocument | None:
        return self.documents.get(path)

    def put(self, path: str, cached: CachedDocument) -> None:
        self.documents.pop(path, None)
        room = MOST_CACHED_BYTES - cached.document.size
        while self.documents and (
            len(self.documents) >= MOST_CACHED
            or sum(one.document.size for one in self.documents.values()) > room
        ):
            self.documents.pop(next(iter(self.documents)))
        self.documents[path] = cached

    def remove(self, path: str) -> None:
        self.documents.pop(path, None)

    def clear(self) -> None:
        self.documents.clear()
