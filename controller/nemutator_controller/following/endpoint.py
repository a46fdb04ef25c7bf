"""`/api/v1/missed-pods`: the pods that admission has missed, as long as they run; none where there is no cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer
from nemutator_controller.following.documents import missed_pods
from nemutator_controller.following.missed import MissedPod

MISSED_PODS_PATH = "/api/v1/missed-pods"


@dataclass(frozen=True, slots=True)
class MissedPodsApi:
    listed: Mapping[str, MissedPod]
    """By uid."""

    def routes(self) -> list[AllowedRoute]:
        show = web.get(MISSED_PODS_PATH, self._list, allow_head=False)
        return [allowed("get", "mutations", show, narrows=True)]

    async def _list(self, request: web.Request) -> web.Response:
        namespace = request.query.get("namespace")
        chosen = (
            each for each in self.listed.values() if namespace in (None, each.pod.subject.namespace)
        )
        return answer(missed_pods(chosen))
