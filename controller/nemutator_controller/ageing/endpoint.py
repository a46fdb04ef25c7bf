"""`/api/v1/ageing`: what grows from day to day, how fast, and in which line."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web
from nemutator_common.profiles import folded

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.ageing.documents import (
    graph_points,
    item_document,
    list_document,
)
from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.ageing.ports import WindowStore
from nemutator_controller.ageing.stacks import in_use
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.queries import limit_in

PATH = "/api/v1/ageing"

USUAL = 100
MOST = 1_000
MOST_GRAPHS = 20
"""Items of a list that come with points: those that grow fastest."""

Handler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True)
class AgeingApi:
    findings: Findings
    store: WindowStore

    def routes(self) -> list[AllowedRoute]:
        one = f"{PATH}/{{id}}"
        return [
            allowed("get", "ageing", web.get(PATH, _explained(self._list)), narrows=True),
            allowed("get", "ageing", web.get(one, _explained(self._show))),
            allowed("get", "ageing", web.get(f"{one}/folded", _explained(self._folded))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        found = self.findings.all(request.query.get("namespace") or None)[:limit]
        points = {
            one.workload.id: graph_points(one.measure, await self.store.history(one.workload))
            for one in found[:MOST_GRAPHS]
        }
        return answer(list_document(found, points))

    async def _show(self, request: web.Request) -> web.Response:
        finding = self._found(request)
        if finding is None:
            return _no_such()
        return answer(item_document(finding, await self.store.history(finding.workload)))

    async def _folded(self, request: web.Request) -> web.Response:
        finding = self._found(request)
        if finding is None:
            return _no_such()
        history = await self.store.history(finding.workload)
        ids = {site for windows in history.values() for one in windows for site in one.sites or ()}
        stacks = in_use(history, await self.store.frames(ids))
        return web.Response(
            text=folded.render(stacks),
            content_type="text/plain",
            headers={
                "Cache-Control": "no-store",
                "Content-Disposition": f'attachment; filename="{finding.workload.id}.folded"',
            },
        )

    def _found(self, request: web.Request) -> AgeingFinding | None:
        return self.findings.find(request.match_info["id"])


def _no_such() -> web.Response:
    return refusal(404, "no such workload", "`GET /api/v1/ageing` lists those that were looked at")


def _explained(handler: Handler) -> Handler:
    """*handler*, whose response says so when the database does not answer."""

    async def explaining(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except StoreUnavailableError as failure:
            return unavailable(f"the database: {failure}", failure.remedy, full=failure.full)

    return explaining
