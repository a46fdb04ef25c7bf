"""Keeps a snapshot of the nodes that is some seconds old, so that an answer reads memory alone."""

import asyncio
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.ports import NodesSource

EVERY_S = 3.0
USABLE_S = 120.0
"""An older one says nothing about now."""


@dataclass(slots=True)
class KeptNodesSnapshot:
    source: NodesSource
    process: Process
    _latest: NodesSnapshot | None = field(default=None, init=False)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def run(self) -> None:
        """A task for a Supervisor."""
        while True:
            await self.fresh()
            await self.process.clock.sleep(EVERY_S)

    async def fresh(self) -> NodesSnapshot | None:
        """One that is at most some seconds old, as far as there is one."""
        async with self._taking:
            now = self.process.clock.now()
            if self._latest is None or not 0 <= now - self._latest.taken_at < EVERY_S:
                self._latest = await self.source.take() or self._latest
        return self.kept()

    def kept(self) -> NodesSnapshot | None:
        """The last one, without waiting; None where there is none that says anything about now."""
        found = self._latest
        if found is None or abs(self.process.clock.now() - found.taken_at) > USABLE_S:
            return None
        self.process.meter.gauge(
            names.PLACEMENT_SNAPSHOT_AGE, self.process.clock.now() - found.taken_at
        )
        return found
