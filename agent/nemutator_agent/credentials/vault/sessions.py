"""What is known of one account while its pod lives, in memory and nowhere else."""

from dataclasses import dataclass, field

from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.cache import CachedDenial, CachedDenials, DocumentCache
from nemutator_agent.credentials.vault.documents import EngineMount
from nemutator_agent.credentials.vault.leases import HeldLease


@dataclass(slots=True, eq=False)
class VaultSession:
    account: Account
    jwt: Secret | None = None
    """The pod's own token for Vault, as kubelet gave it last."""
    held: HeldLease | None = None
    login_denial: CachedDenial | None = None
    refused_at: float | None = None
    """When Vault first refused a login of its without a reason, since the last that it granted."""
    proved: tuple[Secret, float] = (Secret(""), 0.0)
    """A token of its that Vault knew, and until when a denial is taken for one."""
    renewals_failed: int = 0
    closed: bool = False
    mounts: dict[str, EngineMount] = field(default_factory=dict)
    """Those into which the account may reach, by their paths: none is mounted inside of another."""
    cache: DocumentCache = field(default_factory=DocumentCache)
    denials: CachedDenials = field(default_factory=CachedDenials)

    def forget(self, path: str) -> None:
        """Vault does not let the account read it any more, or not there."""
        self.cache.pop(path, None)
        mount = self.mount_of(path)
        if mount is not None:
            del self.mounts[mount.path]

    def mount_of(self, path: str) -> EngineMount | None:
        """The mount of *path*, as far as it is known."""
        return next((one for one in self.mounts.values() if path.startswith(one.path)), None)
