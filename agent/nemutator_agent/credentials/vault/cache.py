"""What Vault has answered, kept for a while: documents and denials."""

from dataclasses import dataclass

from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import VaultError

MOST_CACHED = 64
"""Documents of one account; a pod declares no more references."""

MOST_CACHED_BYTES = 512 << 10
"""Two of the largest documents. For a pod that declares 64 of those it would else be 16 MiB."""

DENIAL_S = 5.0
"""For so long Vault is not asked again what it has denied: a login costs it a TokenReview, and a pod
that asks all the time for what it may not have would make the others wait for a thread."""


@dataclass(frozen=True, slots=True)
class CachedDocument:
    document: Document
    authorised: float
    """When Vault last let this account read it, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class CachedDenial:
    """Vault denied it: the same request gets the same answer *until* then."""

    error: VaultError
    until: float

    def again(self) -> VaultError:
        """A new one each time: the old one would keep the frames of all who have caught it."""
        return type(self.error)(self.error.why)


class DocumentCache(dict[str, CachedDocument]):
    """The documents of one account by path; `put` lets those that were cached first make room."""

    def put(self, path: str, cached: CachedDocument) -> None:
        self.pop(path, None)
        room = MOST_CACHED_BYTES - cached.document.size
        while self and (
            len(self) >= MOST_CACHED or sum(one.document.size for one in self.values()) > room
        ):
            del self[next(iter(self))]
        self[path] = cached


class CachedDenials(dict[str, CachedDenial]):
    """The denials of one account by path; `put` lets those that were cached first make room."""

    def put(self, path: str, denial: CachedDenial) -> None:
        self.pop(path, None)
        if len(self) >= MOST_CACHED:
            del self[next(iter(self))]
        self[path] = denial
