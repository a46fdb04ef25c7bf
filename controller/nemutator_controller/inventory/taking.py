"""Has the cluster counted when somebody asks, in a thread, and not more often than is worth it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_common.clocks import Clock

from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.inventory.figures import count_cluster
from nemutator_controller.inventory.machine_figures import count_machine
from nemutator_controller.inventory.model import ClusterFigures
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


@dataclass(frozen=True, slots=True)
class CountedMachine:
    """The same for a machine that is in no cluster: little enough to be counted each time."""

    nodes: Nodes
    levels: KnownLevels
    requests: KnownRequests
    in_thread: InThread[ClusterFigures]
    clock: Clock

    async def now(self) -> ClusterFigures:
        levels, requests = await self.levels.now(), await self.requests.now()
        now, nodes = self.clock.now(), self.nodes.all()
        reports = ((node.name, node.report) for node in nodes)
        return await self.in_thread(lambda: count_machine(reports, levels, requests, now=now))
