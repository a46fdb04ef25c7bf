"""`GET /api/v1/packing`: which nodes could be emptied, which are, and why the others not. Nothing is done by it."""

from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.packing.documents import packing_document
from nemutator_controller.packing.emptying import NodeEmptying
from nemutator_controller.queries import limit_in

PATH = "/api/v1/packing"
USUAL, MOST = 10, 50


@dataclass(frozen=True, slots=True)
class PackingApi:
    emptying: NodeEmptying | None
    """None: there is no cluster."""

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "placements", web.get(PATH, self._show, allow_head=False))]

    async def _show(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        if self.emptying is None:
            return refusal(404, "there are no nodes to empty", "it needs a cluster")
        plans = await self.emptying.plan(limit)
        if plans is None:
            return unavailable("the cluster's nodes are not known yet", "ask again in a moment")
        made = self.emptying
        return answer(packing_document(plans, made.chosen, policy=made.policy, most=made.most))
