"""What one pod has read of what it declares, so that a change is known as one."""

from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common.declarations import Reference

from nemutator_agent.credentials.audit import Audit, subject_of
from nemutator_agent.credentials.ports import AnnouncesChanges, RemembersServed
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.sessions import VaultSession


@dataclass(eq=False, slots=True, weakref_slot=True)
class FollowedSecrets:
    """Followed are the secrets that the pod has read. Of their values only digests are kept here."""

    session: VaultSession
    _: KW_ONLY
    changes: AnnouncesChanges
    audit: Audit
    served: RemembersServed | None = None
    """Where something is done for the pod after a change: then one that happens between two runs of this
    process is seen, too. What Vault lends is not in it: each reading anew is another one."""
    _seen: dict[tuple[str, Reference], bytes] = field(default_factory=dict, init=False)
    """Digests, by the name under which the pod has a value and the reference to it."""
    _unsettled: dict[tuple[str, Reference], bytes | None] = field(default_factory=dict, init=False)
    """Changes after which nothing was done for the pod yet; None of what is not in `served`."""

    def read(self, name: str, reference: Reference, document: Document) -> bool:
        """The pod is given a value out of *document* under *name*; returns whether it was never before."""
        digest = document.digest(reference.key)
        if digest is None:
            return True
        known = self._seen.get((name, reference))
        if known == digest:
            return False
        self._seen[name, reference] = digest
        kept = digest if document.lease is None else None
        if known is None and not self._was_other(name, reference, kept):
            return True
        if self.served is not None:
            self._unsettled[name, reference] = kept
        self.changes.announce(name, document.version)
        self.audit.record(
            subject_of(self.session.account.pod),
            "rotate",
            "granted",
            secret=name,
            path=self.session.account.located(reference.path),
            role=self.session.account.role,
            version=document.version,
        )
        return known is None

    def _was_other(self, name: str, reference: Reference, digest: bytes | None) -> bool:
        """Whether an earlier run has given the pod another value. The first one that it is given is kept."""
        if self.served is None or digest is None:
            return False
        same = self.served.is_same(name, str(reference), digest)
        if same is None:
            self.served.put(name, str(reference), digest)
        return same is False

    @property
    def before(self) -> Collection[tuple[str, str]]:
        """The names and references of what the pod was given in its life, also by an earlier run."""
        return () if self.served is None else self.served.references()

    @property
    def is_unsettled(self) -> bool:
        return bool(self._unsettled)

    def settling(self) -> Callable[[], None]:
        """What has changed is being acted upon; call what is returned when that is done."""
        taken, self._unsettled = self._unsettled, {}

        def settle() -> None:
            for (name, reference), digest in taken.items():
                if self.served is not None and digest is not None:
                    self.served.put(name, str(reference), digest)

        return settle

    def differs(self, path: str, document: Document) -> bool:
        return any(
            document.digest(reference.key) not in (None, self._seen[name, reference])
            for name, reference in self._followed(path)
        )

    def take(self, path: str, document: Document) -> None:
        for name, reference in self._followed(path):
            self.read(name, reference, document)

    def _followed(self, path: str) -> list[tuple[str, Reference]]:
        return [(name, reference) for name, reference in self._seen if reference.path == path]
