"""`/api/v1/deploys`: when workloads got a new version."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import refusal, unavailable
from nemutator_controller.inventory.deploys import Deploy, DeployList, deploys
from nemutator_controller.inventory.ports import WatchedInventory
from nemutator_controller.queries import limit_in

DEPLOYS = "/api/v1/deploys"
USUAL = 100
MOST = 1_000
REMEDY = "see docs/inventory.md"


@dataclass(frozen=True, slots=True)
class DeploysApi:
    cluster: WatchedInventory | None
    """None off clusters, where nothing is deployed that could be told."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "workloads", web.get(DEPLOYS, self._deploys), narrows=True)]

    async def _deploys(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        limit = limit_in(query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", REMEDY)
        since = _seconds(query.get("since", "0"))
        if since is None:
            return refusal(400, "since: expected seconds since 1970", REMEDY)
        kind, slash, name = query.get("workload", "").partition("/")
        if bool(kind) != bool(slash and name):
            return refusal(400, "workload: expected KIND/NAME", REMEDY)
        snapshot = None if self.cluster is None else self.cluster.pods()
        if self.cluster is not None and snapshot is None:
            return unavailable("the cluster's pods are not listed yet", "ask again in a moment")
        found: Sequence[Deploy] = ()
        if snapshot is not None:
            found = await asyncio.to_thread(
                deploys,
                snapshot.replica_sets.objects.values(),
                namespace=query.get("namespace") or None,
                workload=(kind, name) if kind else None,
                since=since,
                limit=limit,
            )
        document = DeployList(now=self.process.clock.now(), items=found)
        return web.Response(body=msgspec.json.encode(document), content_type="application/json")


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
