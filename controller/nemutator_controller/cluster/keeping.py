"""Keeps the picture on disk, so that a restart of the brain does not begin with an empty one.

Not with every report: the history has their figures already, and writing the whole picture each
time would cost the disk hundreds of times more than it is worth.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from nemutator_common import names
from nemutator_common.clocks import Clock

from nemutator_controller.cluster.nodes import Node, Nodes
from nemutator_controller.cluster.ports import LatestStore
from nemutator_controller.database.failures import StoreUnavailableError

log = logging.getLogger(__name__)

EVERY_S = 30.0
LAST_S = 0.5
"""For the last picture while stopping: losing it costs nothing that was promised."""


class Keeper:
    def __init__(
        self, nodes: Nodes, store: LatestStore, *, forget_after_s: float, clock: Clock
    ) -> None:
        self._nodes = nodes
        self._store = store
        self._forget_after_s = forget_after_s
        self._clock = clock
        self._kept: dict[str, tuple[str, int]] = {}

    async def restore(self) -> None:
        """Show what was kept, marked as restored."""
        self._nodes.restore(await self._store.load())
        self._kept = _marks(self._nodes.all())

    async def run(self) -> None:
        """Save what changed, again and again and once more when cancelled."""
        try:
            while True:
                await self._clock.sleep(EVERY_S)
                await self.keep()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_S):
                    await self.keep()

    async def keep(self) -> None:
        """Save what changed since the last time, and forget the nodes that are long gone."""
        gone = self._nodes.forget(unseen_since=self._clock.now() - self._forget_after_s)
        nodes = self._nodes.all()
        changed = [node for node in nodes if self._kept.get(node.name) != (node.epoch, node.seq)]
        try:
            if gone:
                await self._store.forget(gone)
            if changed:
                await self._store.save(changed)
        except StoreUnavailableError as failure:
            log.warning("picture_not_kept", {names.REASON: failure.reason})
        else:
            self._kept = _marks(nodes)


def _marks(nodes: Sequence[Node]) -> dict[str, tuple[str, int]]:
    return {node.name: (node.epoch, node.seq) for node in nodes}
