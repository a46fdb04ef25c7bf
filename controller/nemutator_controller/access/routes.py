"""Routes of the brain, each of which declares who may call it."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from aiohttp import web

from nemutator_controller.access.callers import Caller, CallerKind
from nemutator_controller.access.permissions import API, Permission, Verb


@dataclass(frozen=True, slots=True)
class LaterCall:
    """What a process has asked, whole, and was found to be."""

    caller: Caller
    query: Mapping[str, str]
    content_type: str
    body: bytes


AnswerLater = Callable[[LaterCall], Awaitable[web.Response]]
"""Answers as the route's own handler does. What comes from thousands of nodes each minute is not worth a parser, a router and
middlewares for each time."""


@dataclass(frozen=True, slots=True)
class ProcessRoute(web.AbstractRouteDef):
    """A route, and the processes that may call it. `served_to` makes one."""

    route: web.RouteDef
    callers: frozenset[CallerKind]
    later: AnswerLater | None = field(default=None, kw_only=True)

    def register(self, router: web.UrlDispatcher) -> list[web.AbstractRoute]:
        return self.route.register(router)


@dataclass(frozen=True, slots=True)
class AllowedRoute(ProcessRoute):
    """A route of the API, and what people in a cluster need for it. `allowed` makes one."""

    permission: Permission


def served_to(
    callers: Collection[CallerKind], route: web.RouteDef, *, later: AnswerLater | None = None
) -> ProcessRoute:
    """*route*, for processes of these kinds."""
    return ProcessRoute(route, frozenset(callers), later=later)


def allowed(
    verb: Verb, resource: str, route: web.RouteDef, *, narrows: bool = False
) -> AllowedRoute:
    """*route*, for people whom RBAC allows to *verb* *resource*, and for local processes."""
    if not route.path.startswith(API):
        raise ValueError(f"{route.path} does not belong to the API")
    return AllowedRoute(route, frozenset({"local"}), Permission(verb, resource, narrows))


R = TypeVar("R", bound=ProcessRoute)


class DeclaredRoutes(Generic[R]):
    """All routes of one listener, by which its gate finds what a request needs."""

    def __init__(self, routes: Iterable[R]) -> None:
        self._routes = {(one.route.method, one.route.path): one for one in routes}

    def find(self, request: web.Request) -> R | None:
        """The route of *request*; None: it has none that is declared, and is refused."""
        method = "GET" if request.method == "HEAD" else request.method
        resource = request.match_info.route.resource
        return None if resource is None else self._routes.get((method, resource.canonical))
