"""The console's listener, put together: off clusters opened by links, in a cluster by tokens."""

import secrets
from collections.abc import Sequence

from aiohttp import web
from aiohttp.typedefs import Middleware
from nemutator_common.addresses import TcpAddress, parse_address
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer
from nemutator_common.serving.tls import TlsFiles

from nemutator_controller.access.browsers import HEADERS
from nemutator_controller.access.gates import Gate, LinkRule, PeopleRule
from nemutator_controller.access.one_time_links import OneTimeLinks
from nemutator_controller.access.people import People
from nemutator_controller.access.ports import PeopleReviewer
from nemutator_controller.access.routes import AllowedRoute, DeclaredRoutes, ProcessRoute
from nemutator_controller.access.sql import SqlSessions
from nemutator_controller.answers import UNHANDLED
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.listeners import BrainListener
from nemutator_controller.console.endpoint import OPEN_PATH, LinkOpening, LinksApi, SigningIn
from nemutator_controller.console.pages import Pages
from nemutator_controller.console.problems import Problems
from nemutator_controller.console.refusals import (
    SIGN_IN_PATH,
    STYLE,
    ConsoleRefusals,
    link_needed,
    sign_in_needed,
)
from nemutator_controller.settings.brain import BrainSettings

LIMITS = Limits(body_bytes=64 << 10, connections=256, drain_s=0.3)
"""What the page posts is small. All drains together take less than the second that a stop may."""

STYLE_FILES = frozenset(("GET", path) for path in STYLE)


class LocalConsole:
    """For this machine alone: `nemutator link` makes the links that open it."""

    def __init__(self, context: BrainContext) -> None:
        self._context = context
        self._server: HttpServer | None = None
        session_s = context.settings.session_s
        self._links = OneTimeLinks(
            SqlSessions(context.database), context.process, session_s=session_s, fresh=fresh_secret
        )
        self.restore = self._links.restore
        self.local_routes = LinksApi(self._links, self.address).routes()

    def address(self) -> TcpAddress:
        assert self._server is not None, "a link was made before there was a listener"
        assert isinstance(self._server.address, TcpAddress)
        return self._server.address

    def url(self) -> str:
        return f"http://{self.address()}"

    def listener(self, routes: Sequence[AllowedRoute]) -> BrainListener:
        settings, process = self._context.settings, self._context.process
        refusals = ConsoleRefusals(link_needed, process.meter)
        opening = LinkOpening(self._links, self.address, refusals, session_s=settings.session_s)
        gate = Gate(
            rule=LinkRule(self._links, self.address),
            refuse=refusals.refuse,
            open_to_all={("GET", OPEN_PATH), *STYLE_FILES},
            protection=HEADERS,
        )
        self._server = _server(settings.console, [*routes, *opening.routes()], gate.admit, process)
        return BrainListener(self._server)


class ClusterConsole:
    """Over TLS, for people whom the API server knows."""

    local_routes: Sequence[ProcessRoute] = ()

    def __init__(self, context: BrainContext, cluster: Cluster) -> None:
        self._context = context
        self._cluster = cluster

    async def restore(self) -> None:
        """There is nothing to restore: sessions hold people's tokens, so they end with the brain."""

    def url(self) -> str:
        settings = self._context.settings
        port = getattr(parse_address(settings.cluster_console), "port", 443)
        return f"https://nemutator-brain.{settings.namespace}.svc:{port}"

    def listener(self, routes: Sequence[AllowedRoute]) -> BrainListener:
        server = cluster_console(
            self._context.settings,
            self._cluster.reviewer,
            routes,
            self._cluster.leaf.tls,
            self._context.process,
        )
        return BrainListener(server, self._cluster.registrar.has_leaf)


def cluster_gate(
    settings: BrainSettings,
    reviewer: PeopleReviewer,
    routes: Sequence[AllowedRoute],
    process: Process,
) -> tuple[Middleware, list[web.RouteDef]]:
    """What lets people whom the API server knows reach *routes*, and how a browser signs in."""
    people = People(reviewer, process, session_s=settings.session_s, fresh=fresh_secret)
    refusals = ConsoleRefusals(sign_in_needed, process.meter)
    gate = Gate(
        rule=PeopleRule(people, DeclaredRoutes(routes)),
        refuse=refusals.refuse,
        open_to_all={("POST", SIGN_IN_PATH), *STYLE_FILES},
        protection=HEADERS,
    )
    return gate.admit, SigningIn(people, refusals, session_s=settings.session_s).routes()


def cluster_console(
    settings: BrainSettings,
    reviewer: PeopleReviewer,
    routes: Sequence[AllowedRoute],
    tls: TlsFiles,
    process: Process,
) -> HttpServer:
    """Over TLS, because people send tokens."""
    middleware, signing_in = cluster_gate(settings, reviewer, routes, process)
    return _server(settings.cluster_console, [*routes, *signing_in], middleware, process, tls)


def _server(
    address: str,
    routes: Sequence[web.AbstractRouteDef],
    gate: Middleware,
    process: Process,
    tls: TlsFiles | None = None,
) -> HttpServer:
    return HttpServer(
        process=process,
        name="console",
        address=parse_address(address),
        routes=[*routes, *Pages().routes()],
        middlewares=[gate, Problems(process.readiness).warn],
        operations=frozenset({"healthz"}),
        limits=LIMITS,
        error_details=UNHANDLED,
        tls=tls,
    )


def fresh_secret() -> Secret:
    """256 bits that nobody can guess."""
    return Secret(secrets.token_urlsafe(32))
