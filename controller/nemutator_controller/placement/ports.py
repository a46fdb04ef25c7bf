"""What placement needs from others."""

from typing import Protocol

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot


class NodesSource(Protocol):
    async def take(self) -> NodesSnapshot | None:
        """The nodes as they are now; None while they are not known."""
        ...

    def has_flows(self) -> bool:
        """Whether any agent has told lately who talks to whom."""
        ...

    def node_of(self, uid: str) -> str | None:
        """Of a pod, at once; empty: it has not been seen on one yet; None: nobody knows the pod."""
        ...
