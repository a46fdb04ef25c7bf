"""The gate of a listener: prove who asks, permit what the route needs, protect the answer."""

from collections.abc import Awaitable, Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from aiohttp import web
from nemutator_common import names
from nemutator_common.addresses import TcpAddress
from nemutator_common.secret import Secret

from nemutator_controller.access.bearers import bearer
from nemutator_controller.access.browsers import distrust, hosts_of, is_foreign
from nemutator_controller.access.callers import Caller, Callers
from nemutator_controller.access.one_time_links import OneTimeLinks
from nemutator_controller.access.people import People
from nemutator_controller.access.permissions import API
from nemutator_controller.access.routes import AllowedRoute, DeclaredRoutes, ProcessRoute
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.answers import refusal
from nemutator_controller.kube.reviews import User

CALLER = web.RequestKey("caller", Caller)
"""The gate of a listener for processes stores the caller under it."""

PERSON = web.RequestKey("person", User)
"""The gate of a cluster's console stores who asks under it."""

_TOKEN = web.RequestKey("token", Secret)
"""And what proved that, for what is asked of the API server as that person."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

ConsoleAddress = Callable[[], TcpAddress]
"""It is called late, because port 0 is replaced when the listener is bound."""

CLUSTER_COOKIE = "__Host-nemutator"
"""The prefix makes browsers insist: over TLS, of this host alone, for all paths."""

POD_REMEDY = (
    f"send a token of our service account, of this pod, for the audience {names.BRAIN_AUDIENCE}"
)
LINK_TOKEN_REMEDY = "send the link token that lies in the data directory"  # noqa: S105
UPLINK_REMEDY = (
    "agents call /uplink/v1/ for their own node, admission for what it shares with the brain"
)
API_REMEDY = "`nemutator --help` lists what can be asked for; -o json shows what the API answers"
LINK_REMEDY = "open the link that `nemutator link` prints"

BEARER: Mapping[str, str] = MappingProxyType({"WWW-Authenticate": "Bearer"})
SOON: Mapping[str, str] = MappingProxyType({"Retry-After": "5"})
NOTHING: Mapping[str, str] = MappingProxyType({})


class AccessRefusedError(Exception):
    """Why a request is not handled, and what its sender can do about it."""

    def __init__(
        self,
        status: int,
        reason: str,
        what: str,
        remedy: str,
        headers: Mapping[str, str] = NOTHING,
    ) -> None:
        """*reason* is the label under which it is counted."""
        super().__init__(what)
        self.status = status
        self.reason = reason
        self.what = what
        self.remedy = remedy
        self.headers = headers

    def as_json(self) -> web.Response:
        response = refusal(self.status, self.what, self.remedy)
        response.headers.update(self.headers)
        return response


Who = TypeVar("Who")


class AccessRule(Protocol[Who]):
    """How the callers of one listener prove who they are, and what each may do.

    Each method may raise AccessRefusedError, and UnknownNowError when it asks the API server.
    """

    def screen(self, request: web.Request) -> None:
        """Refuse what a browser was made to send by a page that is not ours."""
        ...

    async def prove(self, request: web.Request) -> Who: ...

    async def permit(self, who: Who, request: web.Request) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Generic[Who]):
    """The middleware of one listener."""

    rule: AccessRule[Who]
    refuse: Callable[[web.Request, AccessRefusedError], web.Response]
    open_to_all: AbstractSet[tuple[str, str]] = frozenset()
    """Methods and paths that need no proof."""
    protection: Mapping[str, str] = field(default_factory=dict)
    """Headers for answers that do not set them themselves."""

    @web.middleware
    async def admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            await self._judge(request)
        except UnknownNowError as unknown:
            return self._protected(self.refuse(request, refused_now(unknown)))
        except AccessRefusedError as refused:
            return self._protected(self.refuse(request, refused))
        try:
            return self._protected(await handler(request))
        except web.HTTPException as raised:
            self._protected(raised)
            raise

    async def _judge(self, request: web.Request) -> None:
        self.rule.screen(request)
        if (request.method, request.path) not in self.open_to_all:
            await self.rule.permit(await self.rule.prove(request), request)

    def _protected(self, response: web.StreamResponse) -> web.StreamResponse:
        for name, value in self.protection.items():
            response.headers.setdefault(name, value)
        return response


@dataclass(frozen=True, slots=True)
class ProcessRule:
    """For processes: a bearer token on every path."""

    callers: Callers
    routes: DeclaredRoutes[ProcessRoute]
    remedy: str
    """It says which token to send."""

    def screen(self, request: web.Request) -> None:
        """Browsers add no `Authorization` by themselves."""

    async def prove(self, request: web.Request) -> Caller:
        return await self.prove_by(request.headers.get("Authorization"), source=source_of(request))

    async def prove_by(self, authorization: str | None, *, source: str) -> Caller:
        caller = await self.callers.recognise(authorization, source=source)
        if caller is None:
            what = "this caller is not known"
            raise AccessRefusedError(401, "caller", what, self.remedy, BEARER)
        return caller

    async def permit(self, who: Caller, request: web.Request) -> None:
        route = self.routes.find(request)
        # Only a local process learns which paths there are.
        missing = who.kind == "local" and request.match_info.http_exception is not None
        if not missing:
            permit_path(who, route)
        request[CALLER] = who


def permit_path(who: Caller, route: ProcessRoute | None) -> None:
    if route is None or who.kind not in route.callers:
        what = "this caller may not use this path"
        raise AccessRefusedError(403, "path", what, UPLINK_REMEDY)


def refused_now(unknown: UnknownNowError) -> AccessRefusedError:
    what = f"the caller cannot be identified now: {unknown}"
    return AccessRefusedError(503, "unknown", what, "ask again later", SOON)


@dataclass(frozen=True, slots=True)
class LinkRule:
    """For browsers off clusters: the right host and origin, and a session that a link opened."""

    links: OneTimeLinks
    address: ConsoleAddress

    def screen(self, request: web.Request) -> None:
        why = distrust(request.method, request.headers, hosts_of(self.address()))
        if why is not None:
            raise AccessRefusedError(403, why, f"wrong {why}", LINK_REMEDY)

    async def prove(self, request: web.Request) -> None:
        if not is_signed_in(request, self.links, self.address):
            what = "this browser has no session, or it has ended"
            raise AccessRefusedError(401, "session", what, LINK_REMEDY)

    async def permit(self, who: None, request: web.Request) -> None:
        """A person who can enter the data directory may do everything."""


@dataclass(frozen=True, slots=True)
class PeopleRule:
    """For people in a cluster: their own token, sent each time or once by a browser, and RBAC."""

    people: People
    routes: DeclaredRoutes[AllowedRoute]

    def screen(self, request: web.Request) -> None:
        # Only a cookie, which a browser adds by itself, can be abused by another page in it.
        token = bearer(request.headers.get("Authorization"))
        if token is None and is_foreign(request.method, request.headers):
            raise AccessRefusedError(403, "origin", "wrong origin", "open the console itself")

    async def prove(self, request: web.Request) -> User:
        sent = bearer(request.headers.get("Authorization"))
        token = sent or self.people.token_of(request.cookies.get(CLUSTER_COOKIE, ""))
        user = None if token is None else await self.people.user(token, source=source_of(request))
        if user is not None and token is not None:
            request[_TOKEN] = token
            return user
        if sent is None:
            what = "nobody is signed in"
            remedy = "reload the page to sign in, or send a bearer token"
        else:
            what = "the cluster does not know this token"
            remedy = "take a new one, as `kubectl create token NAME` prints it"
        raise AccessRefusedError(401, "session", what, remedy, BEARER)

    async def permit(self, who: User, request: web.Request) -> None:
        if not request.path.startswith(API):
            return
        route = self.routes.find(request)
        if route is None:
            raise AccessRefusedError(404, "path", "no such path", API_REMEDY)
        permission = route.permission
        named = request.match_info.get("namespace", request.query.get("namespace", ""))
        namespace = named if permission.narrows else ""
        if not await self.people.may(who, permission, namespace=namespace):
            where = f" in namespace {namespace}" if namespace else ""
            what = f"{who.username} may not {permission}{where}"
            remedy = "ask an administrator of the cluster to grant it by RBAC"
            raise AccessRefusedError(403, "forbidden", what, remedy)
        request[PERSON] = who


def person_token(request: web.Request) -> Secret | None:
    """The token of the person who asks in a cluster; None for a process, and off clusters."""
    return request.get(_TOKEN)


def source_of(request: web.Request) -> str:
    """The address from which it comes; empty for a unix socket."""
    return request.remote or ""


def is_signed_in(request: web.Request, links: OneTimeLinks, address: ConsoleAddress) -> bool:
    """Whether the browser has a session that a link opened."""
    return links.admits(request.cookies.get(cookie_name(address())))


def cookie_name(address: TcpAddress) -> str:
    """Cookies ignore the port, so the name has it: two instances must not sign each other out."""
    return f"nemutator-{address.port}"
