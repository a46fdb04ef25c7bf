"""`/api/v1/flows`: who talks to whom, as a list and as a graph."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire_activity import Flow

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import refusal, unavailable
from nemutator_controller.cluster.pods import ClusterSnapshot
from nemutator_controller.inventory.flows import (
    FlowEdge,
    FlowNode,
    NamedFlow,
    addresses_of,
    flow_graph,
    named_flows,
)
from nemutator_controller.inventory.kept_flows import KeptFlows
from nemutator_controller.inventory.ports import WatchedInventory
from nemutator_controller.inventory.tagged_answers import sent, tag_of
from nemutator_controller.list_pages import ListPage, Position, TokenError, page_of
from nemutator_controller.queries import limit_in

FLOWS = "/api/v1/flows"
USUAL = 500
MOST = 5_000
REMEDY = "see docs/inventory.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "FlowList"
    now: float
    next: str
    remaining: int
    items: Sequence[NamedFlow]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowGraph:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "FlowGraph"
    now: float
    nodes: list[FlowNode]
    edges: list[FlowEdge]


@dataclass(frozen=True, slots=True)
class FlowsApi:
    cluster: WatchedInventory | None
    """None off clusters, where there are no pods whose flows could be told."""
    kept: KeptFlows
    process: Process

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "flows", web.get(FLOWS, self._flows), narrows=True)]

    async def _flows(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        limit = limit_in(query.get("limit"), usual=USUAL, most=MOST)
        view = query.get("as", "list")
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", REMEDY)
        if view not in ("list", "graph"):
            return refusal(400, "as: expected one of list, graph", REMEDY)
        snapshot = None if self.cluster is None else self.cluster.pods()
        if self.cluster is not None and snapshot is None:
            return unavailable("the cluster's pods are not listed yet", "ask again in a moment")
        namespace, now = query.get("namespace") or None, self.process.clock.now()
        reported = self.kept.all(now=now)
        flows = await asyncio.to_thread(self._named, snapshot, namespace, reported)
        document: FlowList | FlowGraph
        if view == "graph":
            nodes, edges = await asyncio.to_thread(flow_graph, flows)
            document = FlowGraph(now=now, nodes=nodes, edges=edges)
        else:
            try:
                page = _page(flows, limit=limit, after=query.get("continue", ""))
            except TokenError as error:
                return refusal(400, f"continue: {error}", REMEDY)
            document = FlowList(now=now, next=page.next, remaining=page.remaining, items=page.items)
        body, tag = await asyncio.to_thread(
            lambda: (msgspec.json.encode(document), tag_of(replace(document, now=0.0)))
        )
        return sent(request, body, tag)

    def _named(
        self,
        snapshot: ClusterSnapshot | None,
        namespace: str | None,
        reported: Sequence[tuple[str, Sequence[Flow]]],
    ) -> list[NamedFlow]:
        if snapshot is None or self.cluster is None:
            return []
        addresses = addresses_of(snapshot, self.cluster.objects())
        found = named_flows(reported, snapshot, addresses)
        return [flow for flow in found if namespace in (None, flow.pod.namespace)]


def _page(flows: Sequence[NamedFlow], *, limit: int, after: str) -> ListPage[NamedFlow]:
    return page_of(flows, _position, order="bytes", limit=limit, after=after)


def _position(flow: NamedFlow) -> Position:
    pod, peer = flow.pod, flow.peer
    name = (pod.namespace, pod.name, peer.address, str(flow.port), flow.direction)
    return flow.received + flow.sent, name
