"""`/api/v1/objects`: applies and shows manifests where there is no cluster."""

from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.journal import documents
from nemutator_controller.journal.applying import Applying
from nemutator_controller.journal.endpoint import explained
from nemutator_controller.journal.manifests import ManifestError, read_manifest

OBJECTS_PATH = "/api/v1/objects"

REMEDY = "correct these fields, then apply it again; `nemutator policy test` tries without applying"


@dataclass(frozen=True, slots=True)
class ManifestsApi:
    applying: Applying

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed(
                "get", "objects", web.get(OBJECTS_PATH, explained(self._list, "reading manifests"))
            ),
            allowed("create", "objects", web.post(OBJECTS_PATH, explained(self._apply, "apply"))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        """All of them by name; with `?name=` those of that name, with their content."""
        kind, namespace, name = (request.query.get(word) for word in ("kind", "namespace", "name"))
        found = [
            live
            for live in await self.applying.manifests.all()
            if kind in (None, live.subject.kind)
            and namespace in (None, live.subject.namespace)
            and name in (None, live.subject.name)
        ]
        return answer(documents.kept(found, whole=name is not None))

    async def _apply(self, request: web.Request) -> web.Response:
        try:
            applied = await self.applying.apply(read_manifest(await request.read()))
        except ManifestError as error:
            return refusal(400, str(error), REMEDY)
        return answer(documents.applied(applied))
