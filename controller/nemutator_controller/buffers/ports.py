"""What buffers need from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.buffers.model import (
    BufferObject,
    ExpectedRise,
    FoundBuffer,
    WantedBuffer,
)
from nemutator_controller.mutations.decisions import Decision


class BufferWishes(Protocol):
    def wanted(self) -> WantedBuffer | None:
        """What the SeasonPolicies that are in force say; None: nothing. Raises `BufferUnknownError`."""
        ...

    def rise(self) -> ExpectedRise | None:
        """None: it cannot be told."""
        ...


class BufferObjects(Protocol):
    async def find(self) -> FoundBuffer | None:
        """None: nothing that keeps room free is installed. Raises `BufferUnknownError`."""
        ...

    async def scale(self, one: BufferObject, pods: int) -> None:
        """Have it ask for *pods*; one that is gone needs none. Raises `NotScaledError`."""
        ...

    def notify(self, one: BufferObject, note: str) -> None:
        """An Event of the object."""
        ...


class BufferJournal(Protocol):
    """Raises `StoreUnavailableError`."""

    async def add(self, decision: Decision) -> None: ...

    async def tombstones(self) -> Sequence[Tombstone]: ...
