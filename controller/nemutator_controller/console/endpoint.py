"""How a browser gets its session: by a one-time link, or by a token in a cluster."""

from dataclasses import dataclass

from aiohttp import web
from nemutator_common.secret import Secret

from nemutator_controller.access.bearers import bearer
from nemutator_controller.access.browsers import is_prefetch
from nemutator_controller.access.gates import (
    CLUSTER_COOKIE,
    LINK_REMEDY,
    AccessRefusedError,
    ConsoleAddress,
    cookie_name,
    is_signed_in,
    source_of,
)
from nemutator_controller.access.one_time_links import LINK_S, OneTimeLinks
from nemutator_controller.access.people import People
from nemutator_controller.access.routes import ProcessRoute, served_to
from nemutator_controller.answers import answer
from nemutator_controller.console.refusals import SIGN_IN_PATH, ConsoleRefusals

OPEN_PATH = "/open"


@dataclass(frozen=True, slots=True)
class LinksApi:
    """Makes links, only by the unix socket: a browser's session may not make further ones."""

    links: OneTimeLinks
    console: ConsoleAddress

    def routes(self) -> list[ProcessRoute]:
        return [served_to({"local"}, web.post("/api/v1/console-links", self._link))]

    async def _link(self, _: web.Request) -> web.Response:
        key = self.links.offer()
        url = f"http://{self.console()}{OPEN_PATH}?key={key.reveal()}"
        return answer({"url": url, "expires_in_s": int(LINK_S)})


@dataclass(frozen=True, slots=True)
class LinkOpening:
    """Turns a link into a session, off clusters."""

    links: OneTimeLinks
    console: ConsoleAddress
    refusals: ConsoleRefusals
    session_s: float

    def routes(self) -> list[web.RouteDef]:
        return [web.get(OPEN_PATH, self._open, allow_head=False)]

    async def _open(self, request: web.Request) -> web.Response:
        if is_prefetch(request.headers):
            return web.Response(status=503, headers={"Cache-Control": "no-store"})
        token = await self.links.redeem(request.query.get("key", ""))
        if token is not None:
            return _signed_in(cookie_name(self.console()), token, self.session_s, secure=False)
        if is_signed_in(request, self.links, self.console):
            return _to_the_page()
        what = "this link was used before, or it is too old"
        return self.refusals.refuse(request, AccessRefusedError(403, "key", what, LINK_REMEDY))


@dataclass(frozen=True, slots=True)
class SigningIn:
    """Turns a token from a form into a session, in a cluster."""

    people: People
    refusals: ConsoleRefusals
    session_s: float

    def routes(self) -> list[web.RouteDef]:
        return [web.post(SIGN_IN_PATH, self._sign_in)]

    async def _sign_in(self, request: web.Request) -> web.Response:
        given = (await request.post()).get("token", "")
        token = bearer(f"Bearer {given}") if isinstance(given, str) else None
        session = (
            None if token is None else await self.people.sign_in(token, source=source_of(request))
        )
        if session is None:
            what = "the cluster does not know this token"
            remedy = "take a new one, as `kubectl create token NAME` prints it"
            return self.refusals.refuse(request, AccessRefusedError(403, "key", what, remedy))
        return _signed_in(CLUSTER_COOKIE, session, self.session_s, secure=True)


def _signed_in(cookie: str, value: Secret, lasting_s: float, *, secure: bool) -> web.Response:
    """*secure*: the browser sends the cookie over TLS alone."""
    response = _to_the_page()
    response.set_cookie(
        cookie,
        value.reveal(),
        max_age=int(lasting_s),
        secure=secure,
        httponly=True,
        samesite="Strict",
    )
    return response


def _to_the_page() -> web.Response:
    return web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
