"""`GET /api/v1/oversell`: how much of each node's CPU is oversold or could be, and why no more."""

from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.oversell.documents import oversell_document
from nemutator_controller.oversell.keeping import OversellKeeping

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
        return answer(
            oversell_document(
                keeping.verdicts,
                most=keeping.most,
                at=keeping.at,
                now=keeping.process.clock.now(),
                problem=keeping.problem,
            )
        )
