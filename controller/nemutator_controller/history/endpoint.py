"""`/api/v1/workloads/…/history` and the list of what there is a history of."""

import hashlib
from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal, unless_known
from nemutator_controller.history.cells import RowCells
from nemutator_controller.history.documents import (
    HistoryRow,
    HistoryRows,
    OlderPart,
    WorkloadHistory,
    workload_history,
)
from nemutator_controller.history.older import OlderQuestion, joined
from nemutator_controller.history.older_reading import OlderUnavailableError
from nemutator_controller.history.ports import OlderHistory
from nemutator_controller.history.questions import (
    KEPT_S,
    OLDER_S,
    HistoryQuestion,
    UnclearQuestionError,
    older_steps,
    question,
)
from nemutator_controller.history.row_choice import NotOneRowError, chosen
from nemutator_controller.history.row_keys import RowKey
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.queries import limit_in

PATH = "/api/v1/workloads/{namespace}/{kind}/{name}/history"
LIST_PATH = "/api/v1/history/workloads"

USUAL_ROWS = 1_000
MOST_ROWS = 20_000

_LISTED = f"{LIST_PATH} lists all that have a history"


@dataclass(frozen=True, slots=True)
class WorkloadHistoryApi:
    usage: UsageHistory
    process: Process
    older: OlderHistory | None = None
    """None: nobody knows what is older than our own."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "topology", web.get(PATH, self._show), narrows=True),
            allowed("get", "topology", web.get(LIST_PATH, self._list), narrows=True),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        now = self.process.clock.now()
        try:
            reach_s = KEPT_S if self.older is None else OLDER_S
            asked = question(request.query, now=now, reach_s=reach_s)
        except UnclearQuestionError as wrong:
            return refusal(400, str(wrong), "ask with from=-3600 for the last hour")
        try:
            key = chosen(self.usage.known_keys(), request.match_info, request.query)
        except NotOneRowError as wrong:
            return refusal(wrong.status, str(wrong), wrong.remedy or _LISTED)
        cells = self.usage.cells(key, begin=asked.begin, end=asked.end)
        week = self.usage.usual_week(key)
        older = None
        if self.older is not None:
            cells, older = await self._with_older(self.older, key, cells, asked, now=now)
        document = workload_history(key, cells, week, asked, older)
        return shown(request, document)

    async def _with_older(
        self,
        source: OlderHistory,
        key: RowKey,
        ours: RowCells,
        asked: HistoryQuestion,
        *,
        now: float,
    ) -> tuple[RowCells, OlderPart | None]:
        steps = older_steps(asked, now=now)
        if not steps:
            return ours, None
        wanted = OlderQuestion(key, asked.begin, asked.step_s, steps)
        try:
            found = await source.cells(wanted)
        except OlderUnavailableError as error:
            return ours, OlderPart(steps=steps, missing=str(error))
        seam = asked.begin + steps * asked.step_s
        part = OlderPart(
            steps=steps, samples=found.samples, dropped=found.dropped, warnings=found.warnings
        )
        return joined(found.cells, ours, seam=seam), part

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_asked(request)
        if limit is None:
            return wrong_limit()
        namespace = request.query.get("namespace") or None
        name = request.query.get("name") or None
        found = [
            key
            for key in self.usage.known_keys()
            if namespace in (None, key.namespace) and name in (None, key.owner)
        ]
        rows = [
            HistoryRow(
                key.namespace,
                key.owner_kind,
                key.owner,
                key.container,
                round(self.usage.heard_at(key), 1),
            )
            for key in found[:limit]
        ]
        return answer(HistoryRows(items=rows, left_off=len(found) - len(rows)))


def shown(request: web.Request, document: WorkloadHistory) -> web.Response:
    """*document*, unless the caller has the very same already."""
    tag = hashlib.blake2b(msgspec.json.encode(document), digest_size=16).hexdigest()
    return unless_known(request, document, tag=tag)


def limit_asked(request: web.Request) -> int | None:
    """How many rows *request* wants at most; None: it says something else."""
    return limit_in(request.query.get("limit"), usual=USUAL_ROWS, most=MOST_ROWS)


def wrong_limit() -> web.Response:
    what = f"limit: expected a number from 1 to {MOST_ROWS}"
    return refusal(400, what, "leave it away for the first thousand")
