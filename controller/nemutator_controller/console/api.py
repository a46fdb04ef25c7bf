"""Links that open the console, for whoever may enter the data directory."""

from aiohttp import web

from nemutator_controller.answers import answer
from nemutator_controller.console.admitting import Doorkeeper
from nemutator_controller.console.gates import OPEN_PATH, Where
from nemutator_controller.console.sessions import LINK_S


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
