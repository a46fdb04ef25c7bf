"""`/api/v1/nodes` lists the nodes with their sums; `/api/v1/topology` says what runs on them.

Both are sent piece by piece, so that nobody else waits for the 50 MB that the topology of 300 nodes
has. The page and the command ask for the list first, and then for the topology of one node.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import refusal
from nemutator_controller.cluster.node_list import NodeList, listed
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.pods import PodLookup
from nemutator_controller.cluster.topology import NO_PODS, Filter, Topology, node_view
from nemutator_controller.kube.label_selectors import SelectorError, parse_selector

STEP = 100
"""Nodes of the list that are encoded at once, in a millisecond."""


@dataclass(frozen=True, slots=True)
class TopologyApi:
    nodes: Nodes
    stale_after_s: Callable[[], float]
    process: Process
    pods: PodLookup = NO_PODS

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "topology", web.get("/api/v1/nodes", self._list)),
            allowed("get", "topology", web.get("/api/v1/topology", self._topology)),
        ]

    async def _list(self, _: web.Request) -> web.Response:
        now, after_s = self.process.clock.now(), self.stale_after_s()
        nodes = self.nodes.all()
        steps = (nodes[begin : begin + STEP] for begin in range(0, len(nodes), STEP))
        items = (
            b",".join(msgspec.json.encode(listed(node, now=now, after_s=after_s)) for node in step)
            for step in steps
        )
        return _sent(NodeList(now=now, items=[]), items)

    async def _topology(self, request: web.Request) -> web.Response:
        try:
            wanted = _filter(request)
        except SelectorError as error:
            return refusal(400, f"labelSelector: {error}", "write it as kubectl does: kind=unit")
        only = request.query.get("node")
        now, after_s = self.process.clock.now(), self.stale_after_s()
        items = (
            msgspec.json.encode(node_view(node, wanted, now=now, after_s=after_s, pods=self.pods))
            for node in (self.nodes.all() if only is None else self.nodes.named(only))
        )
        return _sent(Topology(now=now, nodes=[]), items)


def _sent(document: NodeList | Topology, items: Iterable[bytes]) -> web.Response:
    """*document* with *items* in its list, which is empty and comes last."""

    async def pieces() -> AsyncIterator[bytes]:
        head, _, tail = msgspec.json.encode(document).rpartition(b"]")
        yield head
        for number, item in enumerate(items):
            yield (b"," if number else b"") + item
            # To a caller that reads fast all would be sent in one turn, and others need theirs.
            await asyncio.sleep(0)
        yield b"]" + tail

    return web.Response(
        body=pieces(), content_type="application/json", headers={"Cache-Control": "no-store"}
    )


def _filter(request: web.Request) -> Filter:
    selector = request.query.get("labelSelector")
    return Filter(
        namespace=request.query.get("namespace") or None,
        selector=parse_selector(selector) if selector else None,
    )
