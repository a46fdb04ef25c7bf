"""`/api/v1/history`: a machine's use over time."""

import math
from dataclasses import dataclass

from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.database.refusals import explained
from nemutator_controller.usage.ports import HistoryStore

DEFAULT_S = 3600.0
LONGEST_S = 366 * 86_400.0


@dataclass(frozen=True, slots=True)
class HistoryApi:
    store: HistoryStore
    process: Process

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "topology", web.get("/api/v1/history", explained(self._history)))]

    async def _history(self, request: web.Request) -> web.Response:
        node, since_s = request.query.get("node"), _seconds(request.query.get("since_s"))
        if not node:
            return refusal(400, "node: missing", "name one that /api/v1/topology lists")
        if since_s is None:
            what = f"since_s: expected a number above 0, up to {LONGEST_S:.0f}"
            return refusal(400, what, "ask for the last hour with since_s=3600")
        # Without an end, because an agent's clock may be ahead of ours.
        since = self.process.clock.now() - since_s
        series = await self.store.series(node, since=since)
        if series is None:
            return refusal(404, "no such node", "name one that /api/v1/topology lists")
        return answer(series)


def _seconds(text: str | None) -> float | None:
    try:
        value = DEFAULT_S if text is None else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 < value <= LONGEST_S else None
