"""`/api/v1/`: what the page and the command line show."""

from aiohttp import web
from nemutator_common.clocks import Clock
from nemutator_common.label_selectors import SelectorError, parse_selector

from nemutator_controller.answers import answer, refusal
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.cluster.pods import Whose
from nemutator_controller.cluster.topology import NOBODY, Filter, topology
from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.gates import OPEN_PATH, Where
from nemutator_controller.console.sessions import LINK_S


class TopologyApi:
    def __init__(
        self, nodes: Nodes, *, stale_after_s: float, clock: Clock, whose: Whose = NOBODY
    ) -> None:
        self._nodes = nodes
        self._stale_after_s = stale_after_s
        self._whose = whose
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/api/v1/topology", self._topology)]

    async def _topology(self, request: web.Request) -> web.Response:
        try:
            wanted = _filter(request)
        except SelectorError as error:
            return refusal(400, f"labelSelector: {error}", "write it as kubectl does: kind=unit")
        return answer(
            topology(
                self._nodes.all(),
                wanted,
                now=self._clock.now(),
                stale_after_s=self._stale_after_s,
                whose=self._whose,
            )
        )


class LinksApi:
    """Only for the unix socket: a browser's session may not make further ones."""

    def __init__(self, doorkeeper: Doorkeeper, console: Where) -> None:
        self._doorkeeper = doorkeeper
        self._console = console

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/api/v1/console-links", self._link)]

    async def _link(self, _: web.Request) -> web.Response:
        key = self._doorkeeper.offer()
        url = f"http://{self._console()}{OPEN_PATH}?key={key.reveal()}"
        return answer({"url": url, "expires_in_s": int(LINK_S)})


def _filter(request: web.Request) -> Filter:
    selector = request.query.get("labelSelector")
    return Filter(
        namespace=request.query.get("namespace") or None,
        selector=parse_selector(selector) if selector else None,
    )
