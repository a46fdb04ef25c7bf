"""What clusters publish, in memory. A `Publications`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nemutator_controller.database.failures import Reason, StoreUnavailableError
from nemutator_controller.inventory.fleet.published import PublishedDocument


@dataclass
class MemoryPublications:
    cluster: str
    kept: dict[str, dict[str, PublishedDocument]] = field(default_factory=dict)
    """By cluster and name; several brains may share it."""
    fails: Reason | None = None

    async def publish(self, documents: Mapping[str, bytes], *, at: float) -> None:
        self._work()
        ours = self.kept.setdefault(self.cluster, {})
        ours.update({name: PublishedDocument(at, content) for name, content in documents.items()})

    async def all_of(self, name: str) -> Mapping[str, PublishedDocument]:
        self._work()
        return {cluster: found[name] for cluster, found in self.kept.items() if name in found}

    async def find(self, cluster: str, name: str) -> PublishedDocument | None:
        self._work()
        return self.kept.get(cluster, {}).get(name)

    async def owner(self, claimed_by: str) -> str:
        self._work()
        claim = PublishedDocument(0.0, claimed_by.encode())
        return self.kept.setdefault(self.cluster, {}).setdefault("owner", claim).packed.decode()

    def _work(self) -> None:
        if self.fails is not None:
            raise StoreUnavailableError(self.fails)
