"""What the saver of nodes needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_controller.cluster.nodes import ReportedNode


class LatestStore(Protocol):
    """Where the last report of each node survives a restart of the brain."""

    async def load(self, *, seen_since: float = 0.0) -> Sequence[ReportedNode]:
        """The saved nodes that have reported since then."""
        ...

    async def save(self, nodes: Sequence[ReportedNode]) -> None: ...

    async def forget(self, gone: Sequence[str]) -> None: ...
