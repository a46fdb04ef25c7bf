"""Keeps a snapshot of the nodes that is some seconds old, so that an answer reads memory alone."""

import asyncio
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.placement.nodes_snapshot import NodesSnapshot
from nemutator_controller.placement.ports import NodesSource

EVERY_S = 3.0
SPARED = 10.0
"""Of a large cluster one takes a second or more to make: it is made anew after this many times as long as it took."""
LONGEST_S = 30.0
"""But no later than this."""
USABLE_S = 120.0
"""An older one says nothing about now."""


@dataclass(slots=True)
class KeptNodesSnapshot:
    source: NodesSource
    process: Process
    _latest: NodesSnapshot | None = field(default=None, init=False)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _every_s: float = field(default=EVERY_S, init=False)

    async def run(self) -> None:
        """A task for a Supervisor."""
        while True:
            await self.fresh()
            await self.process.clock.sleep(self._every_s)

    async def fresh(self) -> NodesSnapshot | None:
        """One that is at most some seconds old, as far as there is one."""
        async with self._taking:
            clock = self.process.clock
            now, begun = clock.now(), clock.monotonic()
            if self._latest is None or not 0 <= now - self._latest.taken_at < self._every_s:
                self._latest = await self.source.take() or self._latest
                took_s = clock.monotonic() - begun
                self._every_s = min(max(EVERY_S, SPARED * took_s), LONGEST_S)
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
