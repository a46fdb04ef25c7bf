"""What marks of nodes need from others."""

from collections.abc import Sequence
from typing import Any, Protocol

from nemutator_controller.node_marks.marks import MarkedNode, NodeMarks


class NodeWishes(Protocol):
    """Who decides on some of the keys."""

    @property
    def keys(self) -> frozenset[str]: ...

    async def refresh(self) -> None:
        """Before each round."""
        ...

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        """What is to stand there of its keys; None: it cannot tell, and what stands stays."""
        ...


class MarkableNodes(Protocol):
    def now(self) -> Sequence[MarkedNode] | None:
        """None while nodes are not known."""
        ...

    async def write(self, node: MarkedNode, patch: Any) -> None:
        """Only if it is still as it was seen; one that is gone or has changed is seen again. Raises
        `NotMarkedNodeError`."""
        ...

    def notify(self, node: MarkedNode, note: str) -> None:
        """A warning, as an Event of the node."""
        ...
