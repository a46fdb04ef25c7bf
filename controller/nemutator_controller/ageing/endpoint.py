"""`/api/v1/ageing`: what grows from day to day, how fast, and in which line."""

import asyncio
from dataclasses import dataclass, field

from aiohttp import web
from nemutator_common.clocks import Clock
from nemutator_common.profiles import flamegraph, folded
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.heap import HeapProfile

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.ageing.busiest import busiest
from nemutator_controller.ageing.documents import busiest_document, item_document, list_document
from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.ageing.ports import WindowStore
from nemutator_controller.ageing.stacks import in_use
from nemutator_controller.answers import answer, refusal
from nemutator_controller.database.refusals import explained
from nemutator_controller.queries import limit_in

PATH = "/api/v1/ageing"

USUAL = 100
MOST = 1_000
RENDER_S = 20.0

USUAL_S = 86_400
MOST_S = 90 * USUAL_S
"""Of CPU time that is shown together."""


@dataclass(frozen=True, slots=True)
class AgeingApi:
    findings: Findings
    store: WindowStore
    clock: Clock
    _rendering: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One at a time: each may take a core for a while."""

    def routes(self) -> list[AllowedRoute]:
        one = f"{PATH}/{{id}}"
        return [
            allowed("get", "ageing", web.get(PATH, explained(self._list)), narrows=True),
            allowed("get", "ageing", web.get(one, explained(self._show))),
            allowed("get", "ageing", web.get(f"{one}/folded", explained(self._folded))),
            allowed("get", "ageing", web.get(f"{one}/flamegraph", explained(self._flamegraph))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        namespace = request.query.get("namespace") or None
        # Nodes are of no namespace.
        pauses = self.store.pauses() if namespace is None else ()
        return answer(list_document(self.findings.all(namespace)[:limit], pauses))

    async def _show(self, request: web.Request) -> web.Response:
        finding = self._found(request)
        if finding is None:
            return _no_such()
        seconds = limit_in(request.query.get("seconds"), usual=USUAL_S, most=MOST_S)
        if seconds is None:
            return refusal(400, f"seconds: expected 1 to {MOST_S}", "leave it out for a day")
        history = await self.store.history(finding.workload)
        found = busiest(history, since=self.clock.now() - seconds)
        frames = await self.store.frames([identity for identity, _ in found.functions])
        of_cpu = busiest_document(found, frames, seconds=seconds)
        return answer(item_document(finding, history, of_cpu))

    async def _folded(self, request: web.Request) -> web.Response:
        finding = self._found(request)
        if finding is None:
            return _no_such()
        _, last = await self._heaps(finding)
        return web.Response(
            text=folded.render(last),
            content_type="text/plain",
            headers={
                "Cache-Control": "no-store",
                "Content-Disposition": f'attachment; filename="{finding.workload.id}.folded"',
            },
        )

    async def _flamegraph(self, request: web.Request) -> web.Response:
        """What is in use now beside what was in use at first."""
        finding = self._found(request)
        if finding is None:
            return _no_such()
        first, last = await self._heaps(finding)
        title = f"{finding.workload.program}: memory in use"
        try:
            async with asyncio.timeout(RENDER_S), self._rendering:
                page = await asyncio.to_thread(
                    lambda: flamegraph.render_difference(
                        difference(first, last),
                        title=title,
                        before="first reading",
                        after="last reading",
                    )
                )
        except TimeoutError:
            return refusal(503, "drawing it takes too long", "take /folded instead")
        headers = {
            "Cache-Control": "no-store",
            # Only its own script and style may run: names in it come from the profiled program.
            "Content-Security-Policy": flamegraph.CONTENT_SECURITY_POLICY,
        }
        return web.Response(text=page, content_type="text/html", headers=headers)

    async def _heaps(self, finding: AgeingFinding) -> tuple[HeapProfile, HeapProfile]:
        """Of the first reading of each process, and of the last one."""
        history = await self.store.history(finding.workload)
        ids = {site for windows in history.values() for one in windows for site in one.sites or ()}
        frames = await self.store.frames(ids)
        return in_use(history, frames, first=True), in_use(history, frames)

    def _found(self, request: web.Request) -> AgeingFinding | None:
        return self.findings.find(request.match_info["id"])


def _no_such() -> web.Response:
    return refusal(404, "no such workload", "`GET /api/v1/ageing` lists those that were looked at")
