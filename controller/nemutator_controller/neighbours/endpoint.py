"""`/api/v1/neighbours`: who suffers, who makes others suffer, and how bad it is."""

from dataclasses import dataclass

from aiohttp import web
from nemutator_common.clocks import Clock

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.neighbours.aside_keeping import AsideKeeping
from nemutator_controller.neighbours.documents import item_document, list_document
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import NOBODY_ASIDE, NeighbourRole
from nemutator_controller.queries import limit_in

NEIGHBOURS = "/api/v1/neighbours"

USUAL = 100
MOST = 1_000
REMEDY = "see docs/neighbours.md"
ROLE_WORDS = tuple(str(role) for role in NeighbourRole)
OF_WORDS = ("pods", "workloads")


@dataclass(frozen=True, slots=True)
class NeighboursApi:
    assessments: NeighbourAssessments
    aside: AsideKeeping | None
    """None: nobody is evicted for others here."""
    clock: Clock

    def routes(self) -> list[AllowedRoute]:
        one = f"{NEIGHBOURS}/{{namespace}}/{{name}}"
        return [
            allowed("get", "neighbours", web.get(NEIGHBOURS, self._list), narrows=True),
            allowed("get", "neighbours", web.get(one, self._show), narrows=True),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        query = request.query
        limit = limit_in(query.get("limit"), usual=USUAL, most=MOST)
        role, of = query.get("role", ""), query.get("of", "pods")
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        if role and role not in ROLE_WORDS:
            return refusal(400, f"role: expected one of {', '.join(ROLE_WORDS)}", REMEDY)
        if of not in OF_WORDS:
            return refusal(400, f"of: expected one of {', '.join(OF_WORDS)}", REMEDY)
        return answer(
            list_document(
                self.assessments.latest,
                NOBODY_ASIDE if self.aside is None else self.aside.state,
                workloads=of == "workloads",
                role=NeighbourRole(role) if role else None,
                namespace=query.get("namespace") or None,
                limit=limit,
                now=self.clock.now(),
            )
        )

    async def _show(self, request: web.Request) -> web.Response:
        latest = self.assessments.latest
        narrowed = request.query.get("namespace") or None
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        found = next(
            (
                one
                for one in (*latest.pods, *latest.workloads)
                if (one.namespace, one.name) == (namespace, name) and narrowed in (None, namespace)
            ),
            None,
        )
        if found is None:
            return refusal(
                404,
                "no such victim or aggressor",
                f"`GET {NEIGHBOURS}` lists those with a grade above 0, and why of others nobody can tell",
            )
        return answer(item_document(found, latest, narrowed))
