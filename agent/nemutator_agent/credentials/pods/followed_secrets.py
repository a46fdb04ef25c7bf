"""What one pod has read of what it declares, so that a change is known as one."""

import hashlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, subject_of
from nemutator_agent.credentials.ports import AnnouncesChanges
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.sessions import VaultSession


@dataclass(eq=False, slots=True, weakref_slot=True)
class FollowedSecrets:
    """Followed are the secrets that the pod has read. Of their values only digests are kept here."""

    session: VaultSession
    declared: Mapping[str, Reference]
    _: KW_ONLY
    changes: AnnouncesChanges
    audit: Audit
    _seen: dict[str, bytes] = field(default_factory=dict, init=False)
    """Digests by name."""

    def read(self, name: str, document: Document) -> None:
        """The pod is given the secret *name* out of *document*."""
        digest = self._digest(name, document)
        if digest is None:
            return
        known = self._seen.get(name)
        self._seen[name] = digest
        if known is not None and known != digest:
            self.changes.announce(name, document.version)
            self.audit.record(
                subject_of(self.session.account.pod),
                "rotate",
                "granted",
                secret=name,
                path=self.declared[name].path,
                role=self.session.account.role,
                version=document.version,
            )

    def differs(self, path: str, document: Document) -> bool:
        return any(
            self._digest(name, document) not in (None, self._seen[name])
            for name in self._followed(path)
        )

    def take(self, path: str, document: Document) -> None:
        for name in self._followed(path):
            self.read(name, document)

    def _followed(self, path: str) -> list[str]:
        return [name for name in self._seen if self.declared[name].path == path]

    def _digest(self, name: str, document: Document) -> bytes | None:
        """None when the key is not there any more, which is no new value."""
        key = self.declared[name].key
        value: Secret | None = document.content if key is None else document.value(key)
        if value is None:
            return None
        # JSON may hold halves of characters, which are no reason to stop following.
        return hashlib.sha256(value.reveal().encode("utf-8", "surrogatepass")).digest()
