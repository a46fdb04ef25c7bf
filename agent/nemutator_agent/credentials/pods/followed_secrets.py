"""What one pod has read of what it declares, so that a change is known as one."""

from dataclasses import KW_ONLY, dataclass, field

from nemutator_common.declarations import Reference

from nemutator_agent.credentials.audit import Audit, subject_of
from nemutator_agent.credentials.ports import AnnouncesChanges
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.sessions import VaultSession


@dataclass(eq=False, slots=True, weakref_slot=True)
class FollowedSecrets:
    """Followed are the secrets that the pod has read. Of their values only digests are kept here."""

    session: VaultSession
    _: KW_ONLY
    changes: AnnouncesChanges
    audit: Audit
    _seen: dict[tuple[str, Reference], bytes] = field(default_factory=dict, init=False)
    """Digests, by the name under which the pod has a value and the reference to it."""

    def read(self, name: str, reference: Reference, document: Document) -> bool:
        """The pod is given a value out of *document* under *name*; returns whether it was never before."""
        digest = document.digest(reference.key)
        if digest is None:
            return True
        known = self._seen.get((name, reference))
        if known == digest:
            return False
        self._seen[name, reference] = digest
        if known is not None:
            self.changes.announce(name, document.version)
            self.audit.record(
                subject_of(self.session.account.pod),
                "rotate",
                "granted",
                secret=name,
                path=reference.path,
                role=self.session.account.role,
                version=document.version,
            )
        return known is None

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
