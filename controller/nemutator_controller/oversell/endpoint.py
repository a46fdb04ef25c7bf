"""`GET /api/v1/oversell`: how much of each node's CPU is oversold or could be, and why no more."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.list_pages import TokenError
from nemutator_controller.oversell.documents import ORDERS, oversell_document
from nemutator_controller.oversell.keeping import OversellKeeping
from nemutator_controller.queries import PageQueryError, asked_page

PATH = "/api/v1/oversell"

ALONE = "there is no cluster: nobody schedules pods by the CPU of this machine"
REMEDY = "ask the brain of a cluster: --brain https://HOST:PORT"


@dataclass(frozen=True, slots=True)
class OversellApi:
    keeping: OversellKeeping | None
    """None: there is no cluster."""

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "placements", web.get(PATH, self._show, allow_head=False))]

    async def _show(self, request: web.Request) -> web.Response:
        keeping = self.keeping
        if keeping is None:
            return refusal(404, ALONE, REMEDY)
        try:
            asked = asked_page(request.query, orders=ORDERS)
            # In a thread: nobody else waits while 5 000 nodes are put in order.
            document = await asyncio.to_thread(
                oversell_document,
                keeping.verdicts,
                asked,
                most=keeping.most,
                at=keeping.at,
                now=keeping.process.clock.now(),
                problem=keeping.problem,
            )
        except PageQueryError as error:
            return refusal(400, str(error), "see docs/oversell.md")
        except TokenError as error:
            return refusal(400, f"continue: {error}", "see docs/oversell.md")
        return answer(document)
