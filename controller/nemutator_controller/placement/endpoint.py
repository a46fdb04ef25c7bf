"""`POST /api/v1/placement` for people, and `POST /prioritize` for a scheduler, and talkers for admission."""

from dataclasses import dataclass, field

from aiohttp import web
from nemutator_common import names
from nemutator_common.admission_snapshots import TALKERS_PATH, TalkerSnapshot
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, ProcessRoute, allowed, served_to
from nemutator_controller.answers import answer, refusal, unavailable, unless_known
from nemutator_controller.placement.documents import placement_document, priorities
from nemutator_controller.placement.pods import (
    InvalidPlacementError,
    extender_question,
    pod_question,
)
from nemutator_controller.placement.promises import Promises
from nemutator_controller.placement.refreshing import KeptNodesSnapshot
from nemutator_controller.placement.scores import asked_scores, explained
from nemutator_controller.placement.telling import TalkerTelling
from nemutator_controller.queries import limit_in

PLACEMENT = "/api/v1/placement"
PRIORITIZE = "/prioritize"

USUAL, MOST = 20, 1_000
REMEDY = "see docs/placement.md"


@dataclass(frozen=True, slots=True)
class PlacementApi:
    snapshot: KeptNodesSnapshot | None
    """None: there is no cluster."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        return [allowed("get", "placements", web.post(PLACEMENT, self._explain))]

    async def _explain(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        if self.snapshot is None:
            return refusal(404, "there are no nodes to choose from", "it needs a cluster")
        try:
            pod = pod_question(await request.read())
        except InvalidPlacementError as error:
            return refusal(400, str(error), "send the manifest of a pod as JSON")
        found = await self.snapshot.fresh()
        if found is None:
            return unavailable("the cluster's nodes are not known yet", "ask again in a moment")
        return answer(
            placement_document(
                found, pod, explained(found, pod, most=limit), now=self.process.clock.now()
            )
        )


@dataclass(frozen=True, slots=True)
class TalkersApi:
    """For admission, on the uplink."""

    telling: TalkerTelling | None
    """None: there is no cluster."""

    def routes(self) -> list[ProcessRoute]:
        route = web.get(TALKERS_PATH, self._give, allow_head=False)
        return [served_to({"admission", "local"}, route)]

    async def _give(self, request: web.Request) -> web.Response:
        if self.telling is None:
            return unless_known(request, TalkerSnapshot(()), tag="none")
        return unless_known(request, self.telling.told, tag=self.telling.tag)


@dataclass(slots=True)
class SchedulerExtender:
    """Scores, and nothing else: it filters no node and binds no pod. It reads memory alone, and says 0 for all nodes
    while it knows nothing, which leaves the scheduler's own scores as they are."""

    snapshot: KeptNodesSnapshot
    process: Process
    promises: Promises = field(init=False)

    def __post_init__(self) -> None:
        self.promises = Promises(self.snapshot.source.node_of)

    def routes(self) -> list[web.RouteDef]:
        return [web.post(PRIORITIZE, self._prioritize)]

    async def _prioritize(self, request: web.Request) -> web.Response:
        began = self.process.clock.monotonic()
        try:
            asked = extender_question(await request.read())
        except InvalidPlacementError as error:
            self._count("invalid")
            return refusal(400, str(error), REMEDY)
        found = self.snapshot.kept()
        if found is None:
            self._count("unknown")
            return answer([{"Host": name, "Score": 0} for name in asked.nodes])
        expected = self.promises.with_those(found, asked.uid)
        scored = asked_scores(expected, asked.pod, asked.nodes)
        self.promises.add(asked.pod, asked.nodes, scored, asked.uid)
        self._count("scored")
        response = answer(priorities(asked.nodes, scored))
        self.process.meter.observe(names.PLACEMENT_SECONDS, self.process.clock.monotonic() - began)
        return response

    def _count(self, result: str) -> None:
        self.process.meter.count(names.PLACEMENTS_SCORED, result=result)
