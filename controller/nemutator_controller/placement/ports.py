"""What placement needs from others."""

from typing import Protocol

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot


class NodesSource(Protocol):
    async def take(self) -> NodesSnapshot | None:
        """The nodes as they are now; None while they are not known."""
        ...
