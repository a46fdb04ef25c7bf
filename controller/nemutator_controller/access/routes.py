"""Routes of the API, each with the permission that it needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.permissions import API, Permission, Verb


@dataclass(frozen=True, slots=True)
class AllowedRoute(web.AbstractRouteDef):
    """A route of the API, and what people in a cluster need for it. `allowed` makes one."""

    route: web.RouteDef
    permission: Permission

    def register(self, router: web.UrlDispatcher) -> list[web.AbstractRoute]:
        return self.route.register(router)


def allowed(
    verb: Verb, resource: str, route: web.RouteDef, *, narrows: bool = False
) -> AllowedRoute:
    """*route*, for people whom RBAC allows to *verb* *resource*."""
    if not route.path.startswith(API):
        raise ValueError(f"{route.path} does not belong to the API")
    return AllowedRoute(route, Permission(verb, resource, narrows))


class Permissions:
    """The permissions of all routes of one listener."""

    def __init__(self, routes: Iterable[AllowedRoute]) -> None:
        self._needed: Mapping[tuple[str, str], Permission] = {
            (one.route.method, one.route.path): one.permission for one in routes
        }

    def needed(self, request: web.Request) -> Permission | None:
        """What *request* needs; None: it has no route of the API, and is refused."""
        method = "GET" if request.method == "HEAD" else request.method
        resource = request.match_info.route.resource
        return None if resource is None else self._needed.get((method, resource.canonical))
