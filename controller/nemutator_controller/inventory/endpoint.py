"""`/api/v1/nodes` and `/api/v1/workloads`: what there is, what it asks for, and what it uses.

What a page has is made and encoded in a thread: that of 5 000 nodes is 5 MB.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import msgspec
from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import refusal, unavailable
from nemutator_controller.cluster.node_list import listed
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.inventory.amounts import NOTHING
from nemutator_controller.inventory.documents import (
    WorkloadItem,
    WorkloadList,
    workload_item,
    workload_item_totals,
    workload_totals,
)
from nemutator_controller.inventory.graphs import WorkloadGraph, graph_of
from nemutator_controller.inventory.model import (
    ClusterFigures,
    NodeFigures,
    Tally,
)
from nemutator_controller.inventory.namespace_documents import namespace_list
from nemutator_controller.inventory.node_documents import (
    InventoryNodeList,
    NodeItem,
    machine_item,
    node_item,
    node_totals,
)
from nemutator_controller.inventory.selection import (
    NODE_FIELDS,
    NODE_ORDERS,
    WORKLOAD_FIELDS,
    WORKLOAD_ORDERS,
    Wanted,
    node_position,
    workload_item_position,
    workload_position,
)
from nemutator_controller.inventory.tagged_answers import sent, tag_of
from nemutator_controller.inventory.taking import NotListedYetError
from nemutator_controller.inventory.trees import WorkloadTree, namespace_branches
from nemutator_controller.kube.label_selectors import Selector, SelectorError, parse_selector
from nemutator_controller.list_pages import ListPage, Position, TokenError, page_of
from nemutator_controller.prices import Prices
from nemutator_controller.queries import USUAL_PAGE, AskedPage, PageQueryError, asked_page

Item = TypeVar("Item")

NODES = "/api/v1/nodes"
WORKLOADS = "/api/v1/workloads"

USUAL_BRANCHES = 50
"""Workloads of one page with all their pods: each may have thousands."""

VIEWS = ("list", "tree", "graph", "namespaces")


class CountedFigures(Protocol):
    async def now(self) -> ClusterFigures: ...


class NotAskedWellError(Exception):
    """What is wrong with a query, and what to write instead."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of a list."""

    wanted: Wanted
    page: AskedPage


@dataclass(frozen=True, slots=True)
class InventoryApi:
    counted: CountedFigures
    reported: Callable[[], Sequence[ReportedNode]]
    stale_after_s: Callable[[], float]
    in_cluster: bool
    process: Process
    prices: Prices | None = None

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "topology", web.get(NODES, self._nodes)),
            allowed("get", "workloads", web.get(WORKLOADS, self._workloads), narrows=True),
        ]

    async def _nodes(self, request: web.Request) -> web.StreamResponse:
        try:
            asked = asked_of(request, fields=NODE_FIELDS, orders=NODE_ORDERS, usual=USUAL_PAGE)
            figures = await self.counted.now()
            now, after_s, reported = self.process.clock.now(), self.stale_after_s(), self.reported()
            body, tag = await asyncio.to_thread(
                _nodes_document, figures, reported, asked, now, after_s, self.in_cluster
            )
        except NotAskedWellError as error:
            return refusal(400, str(error), "see docs/inventory.md")
        except NotListedYetError as error:
            return unavailable(str(error), "ask again in a moment")
        return sent(request, body, tag)

    async def _workloads(self, request: web.Request) -> web.StreamResponse:
        view = request.query.get("as", "list")
        try:
            if view not in VIEWS:
                raise NotAskedWellError(f"as: expected one of {', '.join(VIEWS)}")
            usual = USUAL_PAGE if view in ("list", "namespaces") else USUAL_BRANCHES
            asked = asked_of(request, fields=WORKLOAD_FIELDS, orders=WORKLOAD_ORDERS, usual=usual)
            figures, now = await self.counted.now(), self.process.clock.now()
            body, tag = await asyncio.to_thread(
                _workloads_document, figures, asked, view, now, self.prices
            )
        except NotAskedWellError as error:
            return refusal(400, str(error), "see docs/inventory.md")
        except NotListedYetError as error:
            return unavailable(str(error), "ask again in a moment")
        return sent(request, body, tag)


def asked_of(
    request: web.Request, *, fields: Sequence[str], orders: Sequence[str], usual: int
) -> Asked:
    query = request.query
    try:
        page = asked_page(query, orders=orders, usual=usual)
    except PageQueryError as error:
        raise NotAskedWellError(str(error)) from error
    chosen = _selector(query.get("fieldSelector"), "fieldSelector")
    for each in chosen.requirements:
        if each.key not in fields:
            raise NotAskedWellError(f"fieldSelector: expected one of {', '.join(fields)}")
    labels = _selector(query.get("labelSelector"), "labelSelector")
    return Asked(Wanted(query.get("namespace") or None, labels, chosen, page.search), page)


def _selector(text: str | None, what: str) -> Selector:
    try:
        return parse_selector(text or "")
    except SelectorError as error:
        raise NotAskedWellError(f"{what}: {error}") from error


def shown_nodes(
    figures: ClusterFigures,
    reported: Sequence[ReportedNode],
    *,
    now: float,
    after_s: float,
    in_cluster: bool,
) -> list[NodeItem]:
    """All nodes, as they are now."""
    known = {each.name: listed(each, now=now, after_s=after_s) for each in reported}
    if not in_cluster:
        return [machine_item(each) for each in known.values()]
    return [
        node_item(figures.nodes.get(name) or _only_reported(name), known.get(name))
        for name in sorted(figures.nodes.keys() | known.keys())
    ]


def _nodes_document(
    figures: ClusterFigures,
    reported: Sequence[ReportedNode],
    asked: Asked,
    now: float,
    after_s: float,
    in_cluster: bool,
) -> tuple[bytes, str]:
    items = shown_nodes(figures, reported, now=now, after_s=after_s, in_cluster=in_cluster)
    return node_list_body(items, asked, now=now, counted_at=figures.taken_at)


def node_list_body(
    shown: Iterable[NodeItem], asked: Asked, *, now: float, counted_at: float
) -> tuple[bytes, str]:
    """What *asked* wants of the nodes, encoded, and its tag; raises NotAskedWellError."""
    items = [each for each in shown if asked.wanted.has_node(each)]
    page = _paged(items, node_position, asked)
    document = InventoryNodeList(
        now=now,
        counted_at=counted_at,
        totals=node_totals(items),
        next=page.next,
        remaining=page.remaining,
        items=list(page.items),
    )
    # Ages grow while nothing happens.
    same = replace(
        document, now=0, counted_at=0, items=[replace(each, age_s=None) for each in page.items]
    )
    return msgspec.json.encode(document), tag_of(same)


def _workloads_document(
    figures: ClusterFigures, asked: Asked, view: str, now: float, prices: Prices | None
) -> tuple[bytes, str]:
    found = [each for each in figures.workloads.values() if asked.wanted.has_workload(each)]
    if view == "namespaces":
        named = namespace_list(found, figures.objects, now=now, counted_at=figures.taken_at)
        return msgspec.json.encode(named), tag_of(replace(named, now=0, counted_at=0))
    page = _paged(found, workload_position, asked)
    document: WorkloadList | WorkloadTree | WorkloadGraph
    at, more, rest = figures.taken_at, page.next, page.remaining
    if view == "graph":
        nodes, edges = graph_of(page.items, figures)
        document = WorkloadGraph(
            now=now, counted_at=at, next=more, remaining=rest, nodes=nodes, edges=edges
        )
    elif view == "tree":
        document = WorkloadTree(
            now=now,
            counted_at=at,
            totals=workload_totals(found),
            next=more,
            remaining=rest,
            namespaces=namespace_branches(page.items),
        )
    else:
        document = WorkloadList(
            now=now,
            counted_at=at,
            totals=workload_totals(found),
            next=more,
            remaining=rest,
            items=[workload_item(each) for each in page.items],
            prices=prices,
        )
    return msgspec.json.encode(document), tag_of(replace(document, now=0, counted_at=0))


def workload_item_list_body(
    shown: Iterable[WorkloadItem], asked: Asked, *, now: float, counted_at: float
) -> tuple[bytes, str]:
    """What *asked* wants of the items that another cluster shows; raises NotAskedWellError."""
    found = [each for each in shown if asked.wanted.has_workload_item(each)]
    page = _paged(found, workload_item_position, asked)
    document = WorkloadList(
        now=now,
        counted_at=counted_at,
        totals=workload_item_totals(found),
        next=page.next,
        remaining=page.remaining,
        items=list(page.items),
    )
    return msgspec.json.encode(document), tag_of(replace(document, now=0, counted_at=0))


def _paged(
    items: Sequence[Item], position: Callable[[Item, str], Position], asked: Asked
) -> ListPage[Item]:
    try:
        return page_of(
            items,
            lambda item: position(item, asked.page.order),
            order=asked.page.order,
            limit=asked.page.limit,
            after=asked.page.after,
        )
    except TokenError as error:
        raise NotAskedWellError(f"continue: {error}") from error


def _only_reported(name: str) -> NodeFigures:
    """A node that Kubernetes does not know (any more)."""
    return NodeFigures(
        name=name,
        node=None,
        allocatable=NOTHING,
        capacity=NOTHING,
        most_pods=None,
        tally=Tally(),
        is_ready=False,
    )
