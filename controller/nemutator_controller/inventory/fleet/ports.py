"""Where clusters publish what they show each other."""

from collections.abc import Mapping
from typing import Protocol

from nemutator_controller.inventory.fleet.published import PublishedDocument


class Publications(Protocol):
    """Its calls raise `StoreUnavailableError`."""

    async def publish(self, documents: Mapping[str, bytes], *, at: float) -> None:
        """Show *documents* of this cluster in the place of what was shown under these names."""
        ...

    async def all_of(self, name: str) -> Mapping[str, PublishedDocument]:
        """The document *name* of each cluster that has one, by cluster; `UNKNOWN` where its tables cannot be read."""
        ...

    async def find(self, cluster: str, name: str) -> PublishedDocument | None:
        """Raises `UnreadablePublicationError` where the tables of *cluster* cannot be read."""
        ...

    async def owner(self, claimed_by: str) -> str:
        """Which cluster these tables are of, by its identity: *claimed_by* from now on, if none has claimed them."""
        ...
