"""What is kept for one account while its pod lives: in memory, and nowhere else."""

from dataclasses import dataclass, field

from nemutator_common.secret import Secret

from nemutator_agent.credentials.accounts import Account
from nemutator_agent.credentials.documents import Document, Mount
from nemutator_agent.credentials.failures import LoginRefusedError
from nemutator_agent.credentials.leases import Held

MOST_KEPT = 64
"""Documents of one account: a pod declares no more references."""


@dataclass(frozen=True, slots=True)
class Kept:
    document: Document
    authorised: float
    """When Vault last said that this account may read it, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class RefusedLogin:
    error: LoginRefusedError
    until: float
    """The same token gets the same answer so long."""


@dataclass(slots=True, eq=False)
class Session:
    account: Account
    jwt: Secret | None = None
    """The pod's own token for Vault, as kubelet gave it last."""
    held: Held | None = None
    refused: RefusedLogin | None = None
    renewals_failed: int = 0
    closed: bool = False
    mounts: dict[str, Mount] = field(default_factory=dict)
    """By the path that was asked for."""
    kept: dict[str, Kept] = field(default_factory=dict)
    """By path."""

    def remember(self, path: str, kept: Kept) -> None:
        self.kept.pop(path, None)
        if len(self.kept) >= MOST_KEPT:
            self.kept.pop(next(iter(self.kept)))
        self.kept[path] = kept

    def forget(self, path: str) -> None:
        """Vault does not let it be read (there) any more."""
        self.kept.pop(path, None)
        self.mounts.pop(path, None)
