"""What Vault has answered, kept for a while: documents and denials."""

from dataclasses import dataclass

from nemutator_common.backoff import Backoff

from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError

MOST_CACHED = 64
"""Documents of one pod, which declares no more references in one volume."""

MOST_CACHED_BYTES = 512 << 10
"""Two of the largest documents. For a pod that declares 64 of those it would else be 16 MiB."""

DENIAL_S = 5.0
"""For so long Vault is not asked again what it has denied: a login costs it a TokenReview, and a pod
that asks all the time for what it may not have would make the others wait for a thread."""


RETRY = Backoff(first_s=1.0, longest_s=15.0)
"""After an outage that may be that of one path, or of one login."""

JITTER = 0.2
"""Callers that Vault has told when to come again come apart."""


@dataclass(frozen=True, slots=True)
class CachedDocument:
    document: Document
    authorised: float
    """When Vault last let this account read it, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class CachedDenial:
    """Vault denied it, or failed: the same request gets the same answer *until* then."""

    error: VaultError
    until: float
    failures: int = 0
    """In a row; 0 for a denial."""


def postponed(
    outage: VaultUnavailableError, before: CachedDenial | None, now: float, *, roll: float
) -> CachedDenial:
    """*outage* for a while that grows with each failure after *before*, or for as long as Vault wants."""
    failures = before.failures + 1 if before is not None else 1
    wait_s = RETRY.delay_s(failures, roll=roll)
    if outage.retry_after_s is not None:
        wait_s = outage.retry_after_s * (1 + JITTER * roll)
    known = VaultUnavailableError(outage.reason, outage.why, retry_after_s=wait_s)
    return CachedDenial(known, now + wait_s, failures)


class DocumentCache(dict[str, CachedDocument]):
    """The documents of one account by path. The accounts of one pod have their room together: `put`
    lets those make room that this account cached first, and then those of the pod's others."""

    def __init__(self, *, beside: "DocumentCache | None" = None) -> None:
        """*beside* is the cache of another account of the same pod."""
        super().__init__()
        self._of_pod: list[DocumentCache] = [] if beside is None else beside._of_pod
        self._of_pod.append(self)

    def put(self, path: str, cached: CachedDocument) -> None:
        self.pop(path, None)
        for cache in (self, *self._of_pod):
            while cache and not self._has_room(cached.document.size):
                del cache[next(iter(cache))]
        self[path] = cached

    def close(self) -> None:
        """Its account has ended."""
        self.clear()
        self._of_pod[:] = [cache for cache in self._of_pod if cache is not self]

    def _has_room(self, size: int) -> bool:
        held = [one.document.size for cache in self._of_pod for one in cache.values()]
        return len(held) < MOST_CACHED and sum(held) + size <= MOST_CACHED_BYTES


class CachedDenials(dict[str, CachedDenial]):
    """The denials of one account by path; `put` lets those that were cached first make room."""

    def put(self, path: str, denial: CachedDenial) -> None:
        self.pop(path, None)
        if len(self) >= MOST_CACHED:
            del self[next(iter(self))]
        self[path] = denial
