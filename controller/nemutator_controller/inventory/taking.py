"""Has the cluster counted when somebody asks, in a thread, and not more often than is worth it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_common.clocks import Clock

from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.figures import count_cluster
from nemutator_controller.inventory.machine_figures import count_machine
from nemutator_controller.inventory.model import ClusterFigures, ContainerName
from nemutator_controller.inventory.ports import (
    KnownLevels,
    KnownRequests,
    UseNow,
    WatchedInventory,
)

T = TypeVar("T")

InThread = Callable[[Callable[[], T]], Awaitable[T]]
"""Runs what takes long beside the event loop."""

FRESH_S = 2.0
"""Figures are this old at least before they are made again."""

SPARED = 10.0
"""And this many times as old as it took to make them: who asks all the time takes a tenth of a core at most."""


FEW_MACHINES = 20
EACH_S = 0.05
"""Of more machines figures are made again no sooner than after so long for each, several times what they took."""


class NotListedYetError(Exception):
    """The pods are not listed yet, and figures without them would be wrong."""


@dataclass(slots=True)
class CountedCluster:
    cluster: WatchedInventory
    use: UseNow
    levels: KnownLevels
    in_thread: InThread[ClusterFigures]
    clock: Clock
    _last: ClusterFigures | None = field(default=None, init=False)
    _stale_at: float = field(default=0.0, init=False)
    _counting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def now(self) -> ClusterFigures:
        """Figures of this moment, or of a few seconds ago; raises NotListedYetError."""
        # Who waits for those that are being made gets them.
        async with self._counting:
            last = self._last
            if last is None or self.clock.monotonic() >= self._stale_at:
                # Both at once, the old ones and the new, would take a hundred MB more of a large cluster.
                last = self._last = None
                last = self._last = await self._count()
        return last

    async def _count(self) -> ClusterFigures:
        snapshot = self.cluster.pods()
        if snapshot is None:
            raise NotListedYetError("the cluster's pods are not listed yet")
        levels, objects = await self.levels.now(), self.cluster.objects()
        began, now = self.clock.monotonic(), self.clock.now()
        figures = await self.in_thread(
            lambda: count_cluster(snapshot, objects, self.use, levels, now=now)
        )
        ended = self.clock.monotonic()
        self._stale_at = ended + max(FRESH_S, SPARED * (ended - began))
        return figures


@dataclass(slots=True)
class CountedMachine:
    """The same for machines that are in no cluster: a few are counted each time."""

    nodes: Nodes
    levels: KnownLevels
    requests: KnownRequests
    in_thread: InThread[ClusterFigures]
    clock: Clock
    _last: ClusterFigures | None = field(default=None, init=False)
    _of: Mapping[ContainerName, CpuMemory] = field(default_factory=dict, init=False)
    _stale_at: float = field(default=0.0, init=False)
    _counting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def now(self) -> ClusterFigures:
        """Figures of this moment, or of many machines those of a while ago, with what is requested now."""
        async with self._counting:
            requests, last = await self.requests.now(), self._last
            if last is None or requests != self._of or self.clock.monotonic() >= self._stale_at:
                last = self._last = None
                last = self._last = await self._count(requests)
                self._of = dict(requests)
        return last

    async def _count(self, requests: Mapping[ContainerName, CpuMemory]) -> ClusterFigures:
        levels = await self.levels.now()
        now, nodes = self.clock.now(), self.nodes.all()
        reports = ((node.name, node.report) for node in nodes)
        figures = await self.in_thread(lambda: count_machine(reports, levels, requests, now=now))
        spared_s = EACH_S * len(nodes) if len(nodes) > FEW_MACHINES else 0.0
        self._stale_at = self.clock.monotonic() + spared_s
        return figures
