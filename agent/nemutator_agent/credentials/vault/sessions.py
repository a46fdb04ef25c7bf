"""What is kept for one account while its pod lives: in memory, and nowhere else."""

from dataclasses import dataclass, field

from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.failures import VaultError
from nemutator_agent.credentials.vault.leases import HeldLease

MOST_KEPT = 64
"""Documents of one account: a pod declares no more references."""

MOST_KEPT_BYTES = 512 << 10
"""Two of the largest documents. A pod that declares 64 of those would else have 16 MiB of us."""


@dataclass(frozen=True, slots=True)
class CachedDocument:
    document: Document
    authorised: float
    """When Vault last said that this account may read it, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class CachedDenial:
    """A no of Vault's: the same question gets it again *until* then."""

    error: VaultError
    until: float

    def again(self) -> VaultError:
        """A new one each time: the old would keep the frames of all who were told."""
        return type(self.error)(self.error.why)


@dataclass(slots=True, eq=False)
class VaultSession:
    account: Account
    jwt: Secret | None = None
    """The pod's own token for Vault, as kubelet gave it last."""
    held: HeldLease | None = None
    refused: CachedDenial | None = None
    """The login."""
    renewals_failed: int = 0
    closed: bool = False
    mounts: dict[str, EngineMount] = field(default_factory=dict)
    """By the path that was asked for."""
    kept: dict[str, CachedDocument] = field(default_factory=dict)
    """By path."""
    refusals: dict[str, CachedDenial] = field(default_factory=dict)
    """By path; a pod has no more of them than references."""

    def remember(self, path: str, kept: CachedDocument) -> None:
        self.kept.pop(path, None)
        room = MOST_KEPT_BYTES - kept.document.size
        while self.kept and (
            len(self.kept) >= MOST_KEPT
            or sum(one.document.size for one in self.kept.values()) > room
        ):
            self.kept.pop(next(iter(self.kept)))
        self.kept[path] = kept

    def forget(self, path: str) -> None:
        """Vault does not let it be read (there) any more."""
        self.kept.pop(path, None)
        self.mounts.pop(path, None)
