"""What packing needs from others."""

from collections.abc import Collection, Sequence
from typing import Protocol

from nemutator_controller.packing.model import NodeContents, OversellCeiling, PackNode, PackPod


class PackingSeason(Protocol):
    def packs_by(self) -> str | None:
        """The SeasonPolicy in force that wants pods packed; empty: none does; None: it cannot be told."""
        ...

    def ceiling(self) -> OversellCeiling:
        """Up to which nodes may be packed, as the SeasonPolicies in force say."""
        ...


class PackedNodes(Protocol):
    async def now(self) -> Sequence[PackNode] | None:
        """None while they are not known."""
        ...

    async def contents_of(self, node: str) -> NodeContents:
        """Raises `PackingUnknownError`."""
        ...


class PackingEvictions(Protocol):
    """Evictions of others, with their budgets. Raises `StoreUnavailableError`."""

    async def ask(self, pods: Sequence[PackPod], reason: str) -> str:
        """The id of the request; empty: none of them can be evicted now."""
        ...

    def waits(self, uids: Collection[str]) -> bool:
        """Whether some of them wait for their eviction still."""
        ...

    async def cancel(self, request: str) -> None: ...
