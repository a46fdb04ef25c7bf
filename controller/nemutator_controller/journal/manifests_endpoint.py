"""`/api/v1/objects`: applies and shows manifests where there is no cluster."""

from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.journal import documents
from nemutator_controller.journal.applying import Applying
from nemutator_controller.journal.endpoint import explained
from nemutator_controller.journal.manifests import DEFAULT_NAMESPACE, ManifestError, read_manifest
from nemutator_controller.journal.records import names_of
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.policies.model import KIND

OBJECTS_PATH = "/api/v1/objects"

REMEDY_TO_DELETE = "`GET /api/v1/objects` lists what was applied"
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
            allowed(
                "delete", "objects", web.delete(OBJECTS_PATH, explained(self._delete, "deleting"))
            ),
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

    async def _delete(self, request: web.Request) -> web.Response:
        """The one of `?kind=`, `?namespace=` and `?name=`; a policy is in no namespace."""
        kind, name = (request.query.get(word, "") for word in ("kind", "name"))
        namespace = "" if kind == KIND else request.query.get("namespace") or DEFAULT_NAMESPACE
        subject = Subject(api_version="", kind=kind, namespace=namespace, name=name)
        if not await self.applying.delete(subject):
            return refusal(404, f"{names_of(subject)} is not there", REMEDY_TO_DELETE)
        return answer(documents.deleted(subject))

    async def _apply(self, request: web.Request) -> web.Response:
        try:
            applied = await self.applying.apply(read_manifest(await request.read()))
        except ManifestError as error:
            return refusal(400, str(error), REMEDY)
        return answer(documents.applied(applied))
