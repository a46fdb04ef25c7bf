"""What the webhook's handler needs from the rest of the process."""

from collections.abc import Mapping
from typing import Protocol

from nemutator_controller.mutations.advisor import Advisor
from nemutator_controller.policies.snapshot import Policies


class KnownCluster(Protocol):
    """What is known of the cluster now; each response is made from memory."""

    @property
    def policies(self) -> Policies: ...

    @property
    def advisor(self) -> Advisor: ...

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        """None: no watch has shown it yet."""
        ...

    def reversed(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        """Paths that were taken back for a workload, and must not be written again."""
        ...


class DecisionRecords(Protocol):
    """Where decisions are kept until the brain has them."""

    async def save(self, record: bytes, *, durable: bool) -> None:
        """Returns when it is saved; *durable*: on the disk, whatever happens to this machine.

        `NotSavedError` when it cannot be.
        """
        ...


class SnapshotDocuments(Protocol):
    """Snapshots of the brain."""

    async def get(self, path: str) -> bytes:
        """The document at *path*, the same bytes again when it has not changed; LinkError."""
        ...
