"""`/api/v1/clusters/NAME/…/history`: what the brain of another cluster has saved of its history."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.history.documents import HistoryRow, HistoryRows, workload_history
from nemutator_controller.history.endpoint import limit_asked, shown, wrong_limit
from nemutator_controller.history.fleet.one_row import HeardRow, OtherFormError, put_back
from nemutator_controller.history.fleet.ports import SavedHistories
from nemutator_controller.history.questions import UnclearQuestionError, question
from nemutator_controller.history.row_choice import NotOneRowError, chosen

CLUSTER = "/api/v1/clusters/{cluster}"
PATH = f"{CLUSTER}/workloads/{{namespace}}/{{kind}}/{{name}}/history"
LIST_PATH = f"{CLUSTER}/history/workloads"

_NO_CLUSTER = "no cluster of that name has saved anything"
_CLUSTERS = "name one that `nemutator clusters` shows"
_LISTED = f"{LIST_PATH.format(cluster='NAME')} lists all that have a history"

Handler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True)
class FleetHistoryApi:
    histories: SavedHistories
    cluster: str
    """Ours; empty: this database is for one cluster."""
    process: Process
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One row at a time: each is cut out of some 10 MB."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "clusters", web.get(PATH, self._explained(self._show))),
            allowed("get", "clusters", web.get(LIST_PATH, self._explained(self._list))),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        named, now = request.match_info, self.process.clock.now()
        try:
            asked = question(request.query, now=now)
        except UnclearQuestionError as wrong:
            return refusal(400, str(wrong), "ask with from=-3600 for the last hour")
        found = await self._rows(named["cluster"], named["namespace"], named["name"])
        if found is None:
            return refusal(404, _NO_CLUSTER, _CLUSTERS)
        rows = {one.row.key: one.row for one in found}
        try:
            key = chosen(rows, named, request.query)
        except NotOneRowError as wrong:
            return refusal(wrong.status, str(wrong), wrong.remedy or _LISTED)
        async with self._reading:
            slices = await self.histories.slices(named["cluster"], rows[key])
        usage = put_back(rows[key], slices, now=now)
        cells = usage.cells(key, begin=asked.begin, end=asked.end)
        return shown(request, workload_history(key, cells, usage.usual_week(key), asked))

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_asked(request)
        if limit is None:
            return wrong_limit()
        query = request.query
        namespace, name = query.get("namespace") or None, query.get("name") or None
        found = await self._rows(request.match_info["cluster"], namespace, name)
        if found is None:
            return refusal(404, _NO_CLUSTER, _CLUSTERS)
        rows = [_listed(one) for one in found[:limit]]
        return answer(HistoryRows(items=rows, left_off=len(found) - len(rows)))

    async def _rows(
        self, cluster: str, namespace: str | None, owner: str | None
    ) -> list[HeardRow] | None:
        if not self.cluster:
            return None
        found = await self.histories.rows(cluster, namespace=namespace, owner=owner)
        return None if found is None else list(found)

    def _explained(self, handler: Handler) -> Handler:
        async def explaining(request: web.Request) -> web.Response:
            try:
                return await handler(request)
            except OtherFormError:
                cluster = request.match_info["cluster"]
                what = f"this version cannot read what {cluster} has saved"
                return refusal(409, what, "upgrade the older of the two clusters' brains")
            except StoreUnavailableError as failure:
                return unavailable(f"the database: {failure}", failure.remedy, full=failure.full)

        return explaining


def _listed(one: HeardRow) -> HistoryRow:
    key = one.row.key
    return HistoryRow(
        key.namespace, key.owner_kind, key.owner, key.container, round(one.heard_at, 1)
    )
