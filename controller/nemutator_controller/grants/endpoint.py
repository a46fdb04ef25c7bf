"""`/api/v1/leases` and `/api/v1/grants`: who was granted what, never a value."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass

from aiohttp import web
from nemutator_common import names
from nemutator_common.path_digests import path_digest
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.grants.ports import GrantsView
from nemutator_controller.queries import limit_in

USUAL = 200
MOST = 1_000

Items = Callable[[str | None, int], Awaitable[Sequence[object]]]


@dataclass(frozen=True, slots=True)
class GrantsApi:
    view: GrantsView
    process: Process
    audit_key: Secret | None = None

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "leases", web.get("/api/v1/leases", self._leases), narrows=True),
            allowed("get", "grants", web.get("/api/v1/grants", self._grants), narrows=True),
        ]

    async def _leases(self, request: web.Request) -> web.Response:
        now = self.process.clock.now()

        async def items(namespace: str | None, limit: int) -> Sequence[object]:
            found = await self.view.leases(namespace=namespace, limit=limit)
            return [{**asdict(lease), "state": lease.state(now=now)} for lease in found]

        return await self._list(request, "LeaseList", items)

    async def _grants(self, request: web.Request) -> web.Response:
        path = request.query.get("path")
        if path == "":
            return refusal(400, "path: it is empty", "name one, as `vault kv get` takes it")
        if path is not None and self.audit_key is None:
            return refusal(
                400,
                "path: the brain does not know the key of the digests of paths",
                "give the brain and all agents the same key, with the setting audit_key_file",
            )
        digest = path_digest(self.audit_key, path) if path and self.audit_key else None

        async def items(namespace: str | None, limit: int) -> Sequence[object]:
            return await self.view.grants(namespace=namespace, digest=digest, limit=limit)

        return await self._list(request, "GrantList", items)

    async def _list(self, request: web.Request, kind: str, items: Items) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        try:
            found = await items(request.query.get("namespace") or None, limit)
        except StoreUnavailableError as failure:
            return unavailable(f"no answer: {failure}", failure.remedy, full=failure.full)
        head = {"apiVersion": names.API_VERSION, "kind": kind, "now": self.process.clock.now()}
        return answer({**head, "items": found})
