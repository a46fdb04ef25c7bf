"""What sizing needs from others."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from nemutator_common.wire import Summary

from nemutator_controller.sizing.keys import Key, Requested
from nemutator_controller.sizing.packing import Kept


class Whose(Protocol):
    def of(self, node: str, summary: Summary) -> Key | None:
        """Whose use it is; None: nobody's that is known (yet)."""
        ...


class Requests(Protocol):
    async def now(self) -> Mapping[Key, Requested]:
        """What containers ask for; nothing of those of whom nobody knows."""
        ...


class UsageStore(Protocol):
    """Where histograms survive a restart of the brain."""

    async def load(self) -> Mapping[Key, Kept]: ...

    async def save(self, kept: Mapping[Key, Kept], gone: Iterable[Key]) -> None:
        """Keep *kept* in the place of what was there, and remove *gone*."""
        ...
