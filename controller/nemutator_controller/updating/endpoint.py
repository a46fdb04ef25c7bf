"""`/api/v1/sizing`: the SizingPolicies, and what has become of each pod; none where there is no cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web
from nemutator_common import names

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer
from nemutator_controller.updating.progress import PolicyProgress, sizing_list

SIZING_PATH = "/api/v1/sizing"


@dataclass(frozen=True, slots=True)
class SizingApi:
    progress: Callable[[], Mapping[str, PolicyProgress]]
    faulty: Callable[[], Mapping[str, str]]

    def routes(self) -> list[AllowedRoute]:
        show = web.get(SIZING_PATH, self._list, allow_head=False)
        return [allowed("get", "advice", show, narrows=True)]

    async def _list(self, request: web.Request) -> web.Response:
        items = sizing_list(self.progress(), self.faulty(), request.query.get("namespace"))
        return answer({"apiVersion": names.API_VERSION, "kind": "SizingList", "items": items})
