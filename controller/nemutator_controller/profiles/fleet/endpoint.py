"""`/api/v1/clusters/NAME/profiles`: profiles that the brain of another cluster keeps."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import refusal
from nemutator_controller.profiles.fleet.sql import NoSuchClusterError, OtherProfilesError
from nemutator_controller.profiles.kept_endpoint import KeptProfilePaths
from nemutator_controller.profiles.ports import ReadProfiles

PATH = "/api/v1/clusters/{cluster}/profiles"


@dataclass(frozen=True, slots=True)
class FleetProfilesApi:
    of: Callable[[str], ReadProfiles]
    """The profiles of a cluster, by its name."""
    console: Callable[[], str]
    """The address of the page."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        kept = KeptProfilePaths(self._asked_for, self._link, self.process)
        # A permission of its own: who may see the sizes of all clusters need not see what their programs do.
        return [allowed("get", "clusterprofiles", _explained(one)) for one in kept.routes(PATH)]

    def _asked_for(self, request: web.Request) -> ReadProfiles:
        return self.of(request.match_info["cluster"])

    def _link(self, request: web.Request, identity: str) -> str:
        path = PATH.format(cluster=quote(request.match_info["cluster"], safe=""))
        return f"{self.console()}{path}/{identity}/flamegraph"


def _explained(route: web.RouteDef) -> web.RouteDef:
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]] = route.handler

    async def explaining(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except NoSuchClusterError:
            what = "no cluster of that name keeps profiles in this database"
            return refusal(404, what, "name one that `nemutator clusters` shows")
        except OtherProfilesError:
            what = f"this version cannot read the profiles of {request.match_info['cluster']}"
            return refusal(409, what, "upgrade the older of the two clusters' brains")

    return web.get(route.path, explaining)
