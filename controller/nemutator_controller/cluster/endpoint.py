"""`/api/v1/topology`: node by node, because all of them at once are hundreds of megabytes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec
from aiohttp import web
from nemutator_common.clocks import Clock

from nemutator_controller.answers import refusal
from nemutator_controller.cluster.nodes import Node, Nodes
from nemutator_controller.cluster.pods import Whose
from nemutator_controller.cluster.topology import NOBODY, Filter, Topology, node_view
from nemutator_controller.kube.label_selectors import SelectorError, parse_selector


class TopologyApi:
    def __init__(
        self,
        nodes: Nodes,
        *,
        stale_after_s: Callable[[], float],
        clock: Clock,
        whose: Whose = NOBODY,
    ) -> None:
        self._nodes = nodes
        self._stale_after_s = stale_after_s
        self._whose = whose
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/api/v1/topology", self._topology)]

    async def _topology(self, request: web.Request) -> web.Response:
        try:
            wanted = _filter(request)
        except SelectorError as error:
            return refusal(400, f"labelSelector: {error}", "write it as kubectl does: kind=unit")
        only = request.query.get("node")
        nodes = [node for node in self._nodes.all() if only in (None, node.name)]
        return web.Response(
            body=self._pieces(nodes, wanted),
            content_type="application/json",
            headers={"Cache-Control": "no-store"},
        )

    async def _pieces(self, nodes: Sequence[Node], wanted: Filter) -> AsyncIterator[bytes]:
        now, after_s = self._clock.now(), self._stale_after_s()
        # What stands around the nodes, which come last.
        head, _, tail = msgspec.json.encode(Topology(now=now, nodes=[])).rpartition(b"]")
        yield head
        for number, node in enumerate(nodes):
            view = node_view(node, wanted, now=now, after_s=after_s, whose=self._whose)
            yield (b"," if number else b"") + msgspec.json.encode(view)
            # Who reads fast enough makes nobody wait, and others need their turn.
            await asyncio.sleep(0)
        yield b"]" + tail


def _filter(request: web.Request) -> Filter:
    selector = request.query.get("labelSelector")
    return Filter(
        namespace=request.query.get("namespace") or None,
        selector=parse_selector(selector) if selector else None,
    )
