"""What is known of one account while its pod lives, in memory and nowhere else."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nemutator_common.secret import Secret

from nemutator_agent.credentials.leases.leased_documents import (
    MOST_LEASED,
    LeasedDocument,
    RecoveredLease,
)
from nemutator_agent.credentials.leases.states import (
    LeaseHolding,
    LeaseState,
    granted,
    revoked,
    unanswered,
)
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.cache import CachedDenial, CachedDenials, DocumentCache
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.leases import HeldLease
from nemutator_agent.credentials.vault.login_proofs import LoginProof


@dataclass(slots=True, eq=False)
class VaultSession:
    account: Account
    jwt: Secret | None = None
    """The pod's own token for Vault, as kubelet gave it last."""
    proof: Callable[[], Awaitable[LoginProof]] | None = None
    """Without pods, reads what the machine logs in with, for each login anew; raises a LoginFileError."""
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
    leased: dict[str, LeasedDocument] = field(default_factory=dict)
    """By path: what Vault has lent to the account."""
    recovered: dict[str, RecoveredLease] = field(default_factory=dict)
    """By Vault's name of each lease: those from before this process."""

    def forget(self, path: str) -> None:
        """Vault does not let the account read it any more, or not there."""
        self.cache.pop(path, None)
        mount = self.mount_of(path)
        if mount is not None:
            del self.mounts[mount.path]

    def mount_of(self, path: str) -> EngineMount | None:
        """The mount of *path*, as far as it is known."""
        return next((one for one in self.mounts.values() if path.startswith(one.path)), None)

    def hold(
        self, path: str, document: Document, since: float, *, token: Secret, roll: float
    ) -> LeasedDocument | None:
        """Keep the lease of *document*, which Vault has given at *since* for *token*, in place of an older
        one. Where too many are held, it is not: then it ends with its first term, or with its pod."""
        is_full = path not in self.leased and len(self.leased) >= MOST_LEASED
        is_current = self.held is not None and self.held.lease.token == token
        if document.lease is None or self.held is None or is_full or self.closed or not is_current:
            return None
        holding = granted(LeaseHolding(), document.lease, since, roll=roll)
        leased = self.leased[path] = LeasedDocument(document, holding, self.held.entry)
        return leased

    def lent(self, path: str, now: float) -> LeasedDocument | None:
        """What is lent at *path* and still good: with its token it ends, too."""
        one = self.leased.get(path)
        if one is None or self.is_superseded(one) or (self.held is None and one.lease_id):
            return None
        return one if one.holding.usable(now) else None

    def recovered_at(self, path: str, now: float) -> list[RecoveredLease]:
        """Those of an earlier run that are still good."""
        return [
            one
            for one in self.recovered.values()
            if one.path == path
            and self.held is not None
            and not self.is_superseded(one)
            and one.holding.usable(now)
        ]

    def adopt(self, lease: RecoveredLease, document: Document, now: float) -> LeasedDocument | None:
        """Hold *lease* with what it lends, as if this run had read it; None where it has ended meanwhile."""
        is_full = lease.path not in self.leased and len(self.leased) >= MOST_LEASED
        if is_full or self.recovered.get(lease.lease_id) is not lease:
            return None
        del self.recovered[lease.lease_id]
        # Who renews it at this moment writes to what is dropped here.
        holding = unanswered(lease.holding, now) if _is_renewing(lease) else lease.holding
        adopted = LeasedDocument(document, holding, lease.token, lease.entry, kept=True)
        self.leased[lease.path] = adopted
        return adopted

    def is_superseded(self, leased: LeasedDocument | RecoveredLease) -> bool:
        """Whether the token has been replaced that it ends with."""
        ends_with_token = bool(leased.lease_id)
        return ends_with_token and self.held is not None and self.held.entry != leased.token

    def holds(self, lease_id: str) -> bool:
        return lease_id in self.recovered or self._path_of(lease_id) is not None

    def release(self, lease_id: str) -> int:
        """The pod itself has ended that lease; returns its number in the ledger, 0 where there is none."""
        path = self._path_of(lease_id)
        if path is not None:
            return _revoked(self.leased.pop(path))
        lease = self.recovered.pop(lease_id, None)
        return _revoked(lease) if lease is not None else 0

    def release_at(self, path: str) -> int:
        """What is lent at *path* is not needed any more; returns as `release` does."""
        leased = self.leased.pop(path, None)
        return _revoked(leased) if leased is not None else 0

    def release_all(self) -> None:
        """The pod has ended: what is lent to it ends with its token."""
        for leased in self.leased.values():
            _revoked(leased)
        for lease in self.recovered.values():
            _revoked(lease)
        self.leased.clear()
        self.recovered.clear()

    def _path_of(self, lease_id: str) -> str | None:
        return next((path for path, one in self.leased.items() if one.lease_id == lease_id), None)


def _is_renewing(lease: RecoveredLease) -> bool:
    return lease.holding.state is LeaseState.RENEWING


def _revoked(leased: LeasedDocument | RecoveredLease) -> int:
    """Its number in the ledger. Who renews it at this moment must not replace it."""
    leased.holding = revoked(leased.holding)
    return leased.entry
