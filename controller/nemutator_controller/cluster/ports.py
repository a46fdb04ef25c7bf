"""What the cluster's picture needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_controller.cluster.nodes import Node


class LatestStore(Protocol):
    """Where the last picture survives a restart of the brain."""

    async def load(self) -> Sequence[Node]: ...

    async def save(self, nodes: Sequence[Node]) -> None: ...

    async def forget(self, gone: Sequence[str]) -> None: ...
