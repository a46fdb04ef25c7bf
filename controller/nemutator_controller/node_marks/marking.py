"""Lets on nodes stand what is wanted there, and no longer; only what differs is written, and some at once."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.node_marks.marks import (
    OWN,
    MarkedNode,
    NodeMarks,
    NotMarkedNodeError,
    differing,
    merged,
    only,
    patch_of,
)
from nemutator_controller.node_marks.ports import MarkableNodes, NodeWishes
from nemutator_controller.write_disputes import WriteDisputes

log = logging.getLogger(__name__)

EVERY_S = 15.0
MOST_AT_ONCE = 20
"""Nodes that are written to in one round: the others have to wait for the next."""
AGAIN_S = 600.0
"""How long a node is left alone that could not be written to."""

DISPUTED = (
    "somebody else changes {} whenever nemutator has written it: it is left alone for some time"
)


@dataclass(slots=True)
class NodeMarking:
    """`run` is a task for a Supervisor. What nobody decides on is taken away, if we have written it: a setting that was
    switched off leaves nothing behind, and what another installation has written in the same cluster stays."""

    nodes: MarkableNodes
    wishes: Sequence[NodeWishes]
    process: Process
    me: str
    """The namespace of this installation."""
    every_s: float = EVERY_S
    _disputes: WriteDisputes[str] = field(default_factory=WriteDisputes, init=False)
    _failed_at: dict[str, float] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            await self.round()
            await self.process.clock.sleep(self.every_s)

    async def round(self) -> None:
        for each in self.wishes:
            await each.refresh()
        nodes = self.nodes.now()
        if nodes is None:
            return
        now = self.process.clock.monotonic()
        for name in [name for name, at in self._failed_at.items() if now - at >= AGAIN_S]:
            del self._failed_at[name]
        standing: Counter[str] = Counter(key for node in nodes for key in node.own.words)
        for key in OWN:
            self.process.meter.gauge(names.NODE_MARKS, standing[key], mark=key)
        left = MOST_AT_ONCE
        for node in nodes:
            wanted, nobodys = self._wanted(node)
            keys = self._undisputed(node, differing(node.own, wanted) | nobodys, now)
            if keys and left and node.name not in self._failed_at:
                left -= 1
                await self._write(node, wanted, keys)

    def _wanted(self, node: MarkedNode) -> tuple[NodeMarks, frozenset[str]]:
        """What is to stand there, and the keys under which it does already, of marks that nobody says to have written."""
        decided = frozenset[str]().union(*(each.keys for each in self.wishes))
        writers = node.writers
        others = frozenset(key for key in OWN - decided if writers.get(key) != self.me)
        parts, nobodys = [only(node.own, others)], frozenset[str]()
        for each in self.wishes:
            wanted = each.wanted(node)
            parts.append(only(node.own if wanted is None else wanted, each.keys))
            if wanted is not None:
                nobodys |= each.keys & wanted.words.keys() - writers.keys()
        return merged(parts), nobodys

    def _undisputed(self, node: MarkedNode, keys: frozenset[str], now: float) -> frozenset[str]:
        words = node.own.words
        for key in {*keys, *words}:
            if self._disputes.see(node.uid, key, words.get(key), now=now):
                note = DISPUTED.format(key)
                log.warning("node_mark_disputed", {names.NODE: node.name, names.REASON: note})
                self.nodes.notify(node, note)
        return frozenset(
            key for key in keys if not self._disputes.is_left_alone(node.uid, key, now=now)
        )

    async def _write(self, node: MarkedNode, wanted: NodeMarks, keys: frozenset[str]) -> None:
        try:
            await self.nodes.write(node, patch_of(node, wanted, keys, me=self.me))
        except NotMarkedNodeError as error:
            log.warning("node_not_marked", {names.NODE: node.name, names.ERROR: error})
            self._failed_at[node.name] = self.process.clock.monotonic()
            self.process.meter.count(names.NODE_MARK_WRITES, result="refused")
            return
        words = wanted.words
        for key in keys:
            self._disputes.wrote(node.uid, key, words.get(key))
        self.process.meter.count(names.NODE_MARK_WRITES, result="written")
        said = ", ".join(f"{key}={words.get(key, '')}" for key in sorted(keys))
        log.info("node_marked", {names.NODE: node.name, names.REASON: said})
