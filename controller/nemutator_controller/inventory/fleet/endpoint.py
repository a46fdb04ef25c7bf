"""`/api/v1/clusters`: all clusters on this database with their totals, and the lists of each."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import refusal, unavailable
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.inventory.documents import WorkloadItem
from nemutator_controller.inventory.endpoint import (
    Asked,
    NotAskedWellError,
    asked_of,
    node_list_body,
    workload_item_list_body,
)
from nemutator_controller.inventory.fleet.ports import Publications
from nemutator_controller.inventory.fleet.published import (
    NODES,
    SUMMARY,
    WORKLOADS,
    PublishedDocument,
    UnreadablePublicationError,
    cluster_item,
    cluster_list,
    unpacked,
)
from nemutator_controller.inventory.node_documents import NodeItem
from nemutator_controller.inventory.selection import (
    NODE_FIELDS,
    NODE_ORDERS,
    WORKLOAD_FIELDS,
    WORKLOAD_ORDERS,
)
from nemutator_controller.inventory.tagged_answers import sent, tag_of
from nemutator_controller.queries import USUAL_PAGE

PATH = "/api/v1/clusters"

Encode = Callable[[PublishedDocument, Asked, float], tuple[bytes, str]]


@dataclass(frozen=True, slots=True)
class FleetApi:
    publications: Publications
    cluster: str
    """Ours; empty: this database is for one cluster."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "clusters", web.get(PATH, self._clusters)),
            allowed("get", "clusters", web.get(f"{PATH}/{{cluster}}/nodes", self._nodes)),
            allowed("get", "clusters", web.get(f"{PATH}/{{cluster}}/workloads", self._workloads)),
        ]

    async def _clusters(self, request: web.Request) -> web.StreamResponse:
        now = self.process.clock.now()
        try:
            found = await self.publications.all_of(SUMMARY) if self.cluster else {}
        except StoreUnavailableError as failure:
            return unavailable(f"the database: {failure}", failure.remedy, full=failure.full)
        document = cluster_list(
            [
                cluster_item(name, one, here=name == self.cluster, now=now)
                for name, one in sorted(found.items())
            ],
            now=now,
        )
        return sent(request, msgspec.json.encode(document), tag_of(replace(document, now=0)))

    async def _nodes(self, request: web.Request) -> web.StreamResponse:
        def asked() -> Asked:
            return asked_of(request, fields=NODE_FIELDS, orders=NODE_ORDERS, usual=USUAL_PAGE)

        return await self._list(request, NODES, asked, _nodes_body)

    async def _workloads(self, request: web.Request) -> web.StreamResponse:
        def asked() -> Asked:
            if request.query.get("as", "list") != "list":
                raise NotAskedWellError("as: of another cluster there is the list alone")
            return asked_of(
                request, fields=WORKLOAD_FIELDS, orders=WORKLOAD_ORDERS, usual=USUAL_PAGE
            )

        return await self._list(request, WORKLOADS, asked, _workloads_body)

    async def _list(
        self, request: web.Request, name: str, asked: Callable[[], Asked], encode: Encode
    ) -> web.StreamResponse:
        cluster, now = request.match_info["cluster"], self.process.clock.now()
        try:
            wanted = asked()
            found = await self.publications.find(cluster, name) if self.cluster else None
            if found is None:
                known = await self.publications.all_of(SUMMARY) if self.cluster else {}
                told = f"those are {', '.join(sorted(known))}" if known else "there is none yet"
                what = "no cluster of that name has published anything"
                return refusal(404, what, f"name one that `nemutator clusters` shows: {told}")
            body, tag = await asyncio.to_thread(encode, found, wanted, now)
        except NotAskedWellError as error:
            return refusal(400, str(error), "see docs/inventory.md")
        except UnreadablePublicationError:
            what = f"this version cannot read what {cluster} has published"
            return refusal(409, what, "upgrade the older of the two clusters' brains")
        except StoreUnavailableError as failure:
            return unavailable(f"the database: {failure}", failure.remedy, full=failure.full)
        return sent(request, body, tag)


def _nodes_body(found: PublishedDocument, asked: Asked, now: float) -> tuple[bytes, str]:
    items = unpacked(found.packed, list[NodeItem])
    return node_list_body(items, asked, now=now, counted_at=found.at)


def _workloads_body(found: PublishedDocument, asked: Asked, now: float) -> tuple[bytes, str]:
    items = unpacked(found.packed, list[WorkloadItem])
    return workload_item_list_body(items, asked, now=now, counted_at=found.at)
