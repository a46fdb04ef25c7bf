"""How a browser gets its session: by a one-time link, or by a token in a cluster."""

from aiohttp import web

from nemutator_controller.access.bearers import bearer
from nemutator_controller.access.browsers import is_prefetch
from nemutator_controller.access.gates import (
    CLUSTER_COOKIE,
    LINK_REMEDY,
    AccessRefusedError,
    ConsoleAddress,
    cookie_name,
    is_signed_in,
)
from nemutator_controller.access.one_time_links import LINK_S, OneTimeLinks
from nemutator_controller.access.people import People
from nemutator_controller.access.routes import ProcessRoute, served_to
from nemutator_controller.answers import answer
from nemutator_controller.console.refusals import SIGN_IN_PATH, ConsoleRefusals

OPEN_PATH = "/open"


class LinksApi:
    """Makes links, only by the unix socket: a browser's session may not make further ones."""

    def __init__(self, links: OneTimeLinks, console: ConsoleAddress) -> None:
        self._links = links
        self._console = console

    def routes(self) -> list[ProcessRoute]:
        return [served_to({"local"}, web.post("/api/v1/console-links", self._link))]

    async def _link(self, _: web.Request) -> web.Response:
        key = self._links.offer()
        url = f"http://{self._console()}{OPEN_PATH}?key={key.reveal()}"
        return answer({"url": url, "expires_in_s": int(LINK_S)})


class LinkOpening:
    """Turns a link into a session, outside of clusters."""

    def __init__(
        self,
        links: OneTimeLinks,
        console: ConsoleAddress,
        refusals: ConsoleRefusals,
        *,
        session_s: float,
    ) -> None:
        self._links = links
        self._console = console
        self._refusals = refusals
        self._session_s = session_s

    def routes(self) -> list[web.RouteDef]:
        return [web.get(OPEN_PATH, self._open, allow_head=False)]

    async def _open(self, request: web.Request) -> web.Response:
        if is_prefetch(request.headers):
            return web.Response(status=503, headers={"Cache-Control": "no-store"})
        token = await self._links.redeem(request.query.get("key", ""))
        if token is not None:
            response = _to_the_page()
            response.set_cookie(
                cookie_name(self._console()),
                token.reveal(),
                max_age=int(self._session_s),
                httponly=True,
                samesite="Strict",
            )
            return response
        if is_signed_in(request, self._links, self._console):
            return _to_the_page()
        what = "this link was used before, or it is too old"
        return self._refusals.refuse(request, AccessRefusedError(403, "key", what, LINK_REMEDY))


class SigningIn:
    """Turns a token from a form into a session, in a cluster."""

    def __init__(self, people: People, refusals: ConsoleRefusals, *, session_s: float) -> None:
        self._people = people
        self._refusals = refusals
        self._session_s = session_s

    def routes(self) -> list[web.RouteDef]:
        return [web.post(SIGN_IN_PATH, self._sign_in)]

    async def _sign_in(self, request: web.Request) -> web.Response:
        given = (await request.post()).get("token", "")
        token = bearer(f"Bearer {given}") if isinstance(given, str) else None
        session = None if token is None else await self._people.sign_in(token)
        if session is None:
            what = "the cluster does not know this token"
            remedy = "take a new one, as `kubectl create token NAME` prints it"
            return self._refusals.refuse(request, AccessRefusedError(403, "key", what, remedy))
        response = _to_the_page()
        response.set_cookie(
            CLUSTER_COOKIE,
            session.reveal(),
            max_age=int(self._session_s),
            path="/",
            secure=True,
            httponly=True,
            samesite="Strict",
        )
        return response


def _to_the_page() -> web.Response:
    return web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
