"""`/api/v1/topology` says what runs on nodes.

It is sent in pages, and each page piece by piece: the topology of 5 000 nodes is 600 MB, which no caller could
read in the time that an answer has. The page and the command ask for the list of nodes first, and then for the
topology of one of them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field

import msgspec
from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import long_answer, refusal
from nemutator_controller.cluster.nodes import Nodes, ReportedNode
from nemutator_controller.cluster.pods import PodLookup
from nemutator_controller.cluster.topology import NO_PODS, Filter, Topology, node_view, nodes_after
from nemutator_controller.kube.label_selectors import SelectorError, parse_selector
from nemutator_controller.queries import limit_in

MOST = 5_000
"""Nodes in a page, where what follows does not end it before."""

ENOUGH_BYTES = 8 << 20
"""A page ends with the part that has come to so much, which is some 60 nodes with 30 pods on each."""

ENOUGH_S = 10.0
"""Or with the one that has come to so much time, of us and of the caller: an answer may last for three times as long."""

AT_ONCE = 8
"""Nodes that are opened in one turn of a thread, which takes as long as to open one in ten. All of their
answers, 1 MB or so, are in memory until the caller has taken them."""


@dataclass(frozen=True, slots=True)
class TopologyApi:
    nodes: Nodes
    stale_after_s: Callable[[], float]
    process: Process
    pods: Callable[[], PodLookup] = lambda: NO_PODS
    holding: Callable[[str], Collection[str] | None] = lambda _: None
    """The nodes that hold pods of a namespace; None when it has none that are known."""
    enough_bytes: int = ENOUGH_BYTES
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One thread at a time: each that computes makes the loop wait for its turn of the interpreter. Whoever
    asks for a little waits for one turn of each who asks for everything."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "topology", web.get("/api/v1/topology", self._topology)),
        ]

    async def _topology(self, request: web.Request) -> web.Response:
        try:
            wanted = _filter(request)
        except SelectorError as error:
            return refusal(400, f"labelSelector: {error}", "write it as kubectl does: kind=unit")
        limit = limit_in(request.query.get("limit"), usual=MOST, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", "`next` says where to go on")
        only = request.query.get("node")
        now, after_s = self.process.clock.now(), self.stale_after_s()
        found = self._nodes(wanted) if only is None else self.nodes.named(only)
        left = nodes_after(found, request.query.get("continue", ""))
        # One moment of the cluster for all: threads may not ask the informers.
        pods = self.pods()

        def encoded(some: Sequence[ReportedNode]) -> bytes:
            views = [node_view(node, wanted, now=now, after_s=after_s, pods=pods) for node in some]
            return b",".join(map(msgspec.json.encode, views))

        async def opened(some: Sequence[ReportedNode]) -> bytes:
            # In a thread: a snapshot of 8 MB takes longer to open than others may wait.
            async with self._turn:
                return await asyncio.to_thread(encoded, some)

        shown = 0

        async def parts() -> AsyncIterator[bytes]:
            nonlocal shown
            begun, size = self.process.clock.monotonic(), 0
            while shown < min(limit, len(left)):
                some = left[shown : min(shown + AT_ONCE, limit)]
                part = await opened(some)
                shown += len(some)
                size += len(part)
                yield part
                taken_s = self.process.clock.monotonic() - begun
                if size >= self.enough_bytes or taken_s >= ENOUGH_S:
                    break

        def ended() -> Topology:
            remaining = len(left) - shown
            after = left[shown - 1].name if remaining else ""
            return Topology(now=now, nodes=[], next=after, remaining=remaining)

        return long_answer(Topology(now=now, nodes=[]), parts(), ended)

    def _nodes(self, wanted: Filter) -> Sequence[ReportedNode]:
        """Those to look at: of a namespace that has pods, the nodes that they are on."""
        holding = None if wanted.namespace is None else self.holding(wanted.namespace)
        if holding is None:
            return [node for node in self.nodes.all() if wanted.admits_node(node.name)]
        return [
            node
            for name in sorted(holding)
            if wanted.admits_node(name)
            for node in self.nodes.named(name)
        ]


def _filter(request: web.Request) -> Filter:
    selector = request.query.get("labelSelector")
    return Filter(
        namespace=request.query.get("namespace") or None,
        selector=parse_selector(selector) if selector else None,
    )
