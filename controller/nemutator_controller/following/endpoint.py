"""`/api/v1/missed-pods`: the pods that admission has missed, as long as they run."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web
from nemutator_common import names

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer
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
        items = [
            _shown(each)
            for each in self.listed.values()
            if namespace in (None, each.pod.subject.namespace)
        ]
        return answer({"apiVersion": names.API_VERSION, "kind": "MissedPodList", "items": items})


def _shown(missed: MissedPod) -> dict[str, object]:
    subject = missed.pod.subject
    return {
        "namespace": subject.namespace,
        "name": subject.name,
        "uid": subject.uid,
        "ownerKind": subject.owner_kind,
        "ownerName": subject.owner_name,
        "created": missed.pod.created,
        "policies": missed.policies,
        "required": missed.is_required,
        "why": str(missed),
    }
