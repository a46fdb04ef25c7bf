"""What sizing needs from others."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from nemutator_common.wire import Summary

from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.packed_rows import SavedUsage


class UsageOwners(Protocol):
    def of(self, node: str, summary: Summary) -> ContainerKey | None:
        """The container that used it; None when that is not known (yet)."""
        ...


class Requests(Protocol):
    async def now(self) -> Mapping[ContainerKey, Requested]:
        """What containers request, of those that are known."""
        ...


class GrowingMemory(Protocol):
    def of(self, key: ContainerKey) -> str | None:
        """Why memory should not be requested for it by what it has used; None: it may be."""
        ...


class UsageStore(Protocol):
    """Where histograms survive a restart of the brain."""

    async def load(self) -> Mapping[ContainerKey, SavedUsage]: ...

    async def save(
        self, kept: Mapping[ContainerKey, SavedUsage], gone: Iterable[ContainerKey]
    ) -> None:
        """Save *kept* in the place of what was there, and remove *gone*."""
        ...
