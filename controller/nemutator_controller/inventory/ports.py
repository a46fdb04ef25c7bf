"""What the inventory needs from others."""

from collections.abc import Mapping
from typing import Protocol

from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.current_use import NodeUse
from nemutator_controller.inventory.model import ContainerName, UseLevels


class WatchedInventory(Protocol):
    def pods(self) -> ClusterSnapshot | None:
        """All pods and who owns them; None before there is a complete list."""
        ...

    def objects(self) -> ObjectsSnapshot: ...


class UseNow(Protocol):
    def nodes(self) -> Mapping[str, NodeUse]:
        """What was used last, of the nodes that have said so; it may be called in a thread."""
        ...


class KnownLevels(Protocol):
    async def now(self) -> Mapping[ContainerName, UseLevels]:
        """What containers used for days, of those that are known."""
        ...


class KnownRequests(Protocol):
    async def now(self) -> Mapping[ContainerName, CpuMemory]:
        """What is requested for what runs in no cluster, of those for which something is."""
        ...
