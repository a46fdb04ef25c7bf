"""Saves the last report of each node, so that a restart of the brain does not begin with an empty list.

Not every report is saved: the history has their figures already, and writing all nodes each time
would cost the disk hundreds of times more than it is worth.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.cluster.nodes import Nodes, ReportedNode
from nemutator_controller.cluster.ports import LatestStore
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly

log = logging.getLogger(__name__)

EVERY_S = 30.0
MOST = 500
"""Nodes that are saved each time, the longest unsaved first: of 5 000 nodes each is saved every five
minutes, and the disk writes 8 MB instead of 80."""

LATE_S = 600.0
"""A brain with the most nodes there are saves each of them more often than that."""

STEP = 100
"""Nodes in one transaction: reports must not wait long behind it."""


@dataclass(slots=True)
class NodeSaver:
    nodes: Nodes
    store: LatestStore
    process: Process
    forget_after_s: float
    shared: bool = False
    """Other brains save there, too: what they have saved is shown here."""
    _shown_to: float = field(default=0.0, init=False)
    _saved: dict[str, tuple[str, int]] = field(default_factory=dict, init=False)
    """The epoch and number of each node that are on disk, in the order in which they were saved."""

    async def restore(self) -> None:
        """Show what was saved, marked as restored."""
        self.nodes.restore(await self.store.load())
        self._note(self.nodes.all())

    async def run(self) -> None:
        """Save what changed, again and again and once more when cancelled."""
        await save_repeatedly(self.save, every_s=EVERY_S, clock=self.process.clock)

    async def save(self) -> None:
        """Save what changed since the last time, and forget the nodes that are long gone."""
        gone = self.nodes.forget(silent_since=self.process.clock.now() - self.forget_after_s)
        nodes = self.nodes.all()
        # Those too that have made room for others.
        gone = tuple({*gone, *self._saved.keys() - {node.name for node in nodes}})
        for name in gone:
            self._saved.pop(name, None)
        try:
            if gone:
                await self.store.forget(gone)
            changed = self._changed(nodes)
            for begin in range(0, len(changed), STEP):
                step = changed[begin : begin + STEP]
                await self.store.save(step)
                self._note(step)
            if self.shared:
                await self._show()
        except StoreUnavailableError as failure:
            log.warning("nodes_not_saved", {names.REASON: failure.reason})

    async def _show(self) -> None:
        found = await self.store.load(seen_since=self._shown_to)
        self.nodes.show(found)
        # What is shown as it was saved needs no saving here.
        shown = {node.name: _position(node) for node in self.nodes.all()}
        self._note(node for node in found if shown.get(node.name) == _position(node))
        # Those of other brains may come late: they save a part of their nodes each time.
        newest = max((node.seen_at for node in found), default=0.0)
        self._shown_to = max(self._shown_to, newest - LATE_S)

    def _changed(self, nodes: Sequence[ReportedNode]) -> Sequence[ReportedNode]:
        """What is not on disk as it is, the longest unsaved first."""
        saved = {name: number for number, name in enumerate(self._saved)}
        changed = [node for node in nodes if self._saved.get(node.name) != _position(node)]
        return sorted(changed, key=lambda node: saved.get(node.name, -1))[:MOST]

    def _note(self, saved: Iterable[ReportedNode]) -> None:
        for node in saved:
            self._saved.pop(node.name, None)
            self._saved[node.name] = _position(node)


def _position(node: ReportedNode) -> tuple[str, int]:
    return node.epoch, node.seq
