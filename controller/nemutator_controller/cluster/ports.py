"""What the cluster's picture needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_controller.cluster.nodes import ReportedNode


class LatestStore(Protocol):
    """Where the last picture survives a restart of the brain."""

    async def load(self) -> Sequence[ReportedNode]: ...

    async def save(self, nodes: Sequence[ReportedNode]) -> None: ...

    async def forget(self, gone: Sequence[str]) -> None: ...
