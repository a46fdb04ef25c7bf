"""`/api/v1/tombstones`: lists what stays taken back, and forgets it."""

from dataclasses import dataclass

from aiohttp import web

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.journal import documents
from nemutator_controller.journal.endpoint import explained
from nemutator_controller.journal.ports import JournalStore
from nemutator_controller.journal.records import KeptTombstone

TOMBSTONES_PATH = "/api/v1/tombstones"


@dataclass(frozen=True, slots=True)
class KeptApi:
    store: JournalStore

    def routes(self) -> list[AllowedRoute]:
        forget = f"{TOMBSTONES_PATH}/forget"
        return [
            allowed(
                "get",
                "mutations",
                web.get(TOMBSTONES_PATH, explained(self._list, "reading tombstones")),
            ),
            allowed("update", "mutations", web.post(forget, explained(self._forget, "forgetting"))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        return answer(documents.tombstones(await self._chosen(request)))

    async def _forget(self, request: web.Request) -> web.Response:
        if not request.query.get("workload"):
            return refusal(400, "workload: expected KIND/NAME", "name it as the list does")
        gone = await self._chosen(request)
        await self.store.forget([each.tombstone for each in gone])
        return answer(documents.tombstones(gone))

    async def _chosen(self, request: web.Request) -> list[KeptTombstone]:
        """Those of `?namespace=`, `?workload=KIND/NAME` and `?path=`, as far as they are given."""
        namespace, workload, path = (
            request.query.get(word) for word in ("namespace", "workload", "path")
        )
        found = [
            each
            for each in await self.store.tombstones()
            if namespace in (None, each.tombstone.namespace)
            and workload in (None, f"{each.tombstone.owner_kind}/{each.tombstone.owner_name}")
            and path in (None, each.tombstone.path)
        ]
        return sorted(found, key=lambda each: each.tombstone)
