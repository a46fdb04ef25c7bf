"""`/api/v1/leases` and `/api/v1/grants`: who was granted what, never a value."""

import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from aiohttp import web
from nemutator_common import names
from nemutator_common.path_digests import path_digest
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.wire import Grant

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.cluster.pods import PodOwner
from nemutator_controller.database.refusals import explained
from nemutator_controller.grants.paths import spellings
from nemutator_controller.grants.ports import GrantsView, PodWorkloads
from nemutator_controller.grants.token_leases import TokenLease
from nemutator_controller.queries import flag_in, limit_in, time_in

USUAL = 200
MOST = 1_000

Json = dict[str, Any]

Items = Callable[[str | None, Collection[str] | None, int], Awaitable[Sequence[TokenLease | Grant]]]


@dataclass(frozen=True, slots=True)
class GrantsApi:
    view: GrantsView
    process: Process
    audit_keys: Callable[[], Sequence[Secret]]
    """Those that digests of paths were written with; empty while they are not known."""
    workloads: PodWorkloads

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed(
                "get", "leases", web.get("/api/v1/leases", explained(self._leases)), narrows=True
            ),
            allowed(
                "get", "grants", web.get("/api/v1/grants", explained(self._grants)), narrows=True
            ),
        ]

    async def _leases(self, request: web.Request) -> web.Response:
        expired = flag_in(request.query.get("expired"))
        if expired is None:
            return refusal(400, "expired: expected true or false", "leave it out for all of them")
        expired_by = self.process.clock.now() if expired else None

        async def items(
            namespace: str | None, uids: Collection[str] | None, limit: int
        ) -> Sequence[TokenLease]:
            return await self.view.leases(
                namespace=namespace, pod_uids=uids, limit=limit, expired_by=expired_by
            )

        return await self._list(request, "LeaseList", items)

    async def _grants(self, request: web.Request) -> web.Response:
        path = request.query.get("path")
        paths = None if path is None else spellings(path)
        if path is not None and paths is None:
            return refusal(400, "path: no secret has it", "name one, as `vault kv get` takes it")
        keys = self.audit_keys() if paths else ()
        if paths and not keys:
            return refusal(
                400,
                "path: the brain does not know the key of the digests of paths",
                "in a cluster its /readyz says why; elsewhere give the brain and all agents the same "
                "key, with the setting audit_key_file",
            )
        digests = [path_digest(key, each) for key in keys for each in paths] if paths else None
        refused = flag_in(request.query.get("refused"))
        since = time_in(request.query.get("since"), usual=-math.inf)
        if refused is None or since is None:
            return refusal(
                400,
                "refused, since: one is not what was expected",
                "write true for refused, seconds since 1970 for since",
            )

        async def items(
            namespace: str | None, uids: Collection[str] | None, limit: int
        ) -> Sequence[Grant]:
            return await self.view.grants(
                namespace=namespace,
                pod_uids=uids,
                digests=digests,
                limit=limit,
                refused=refused,
                since=since,
            )

        return await self._list(request, "GrantList", items)

    async def _list(self, request: web.Request, kind_of_list: str, items: Items) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=USUAL, most=MOST)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST}", f"leave it out for {USUAL}")
        namespace = request.query.get("namespace") or None
        pods: Collection[str] | None = None
        if workload := request.query.get("workload"):
            kind, slash, name = workload.partition("/")
            if namespace is None or not slash:
                return refusal(
                    400, "workload: expected KIND/NAME", "name its namespace, too: namespace=shop"
                )
            pods = self.workloads.pods(namespace, PodOwner(kind, name))
        found = await items(namespace, pods, limit)
        now = self.process.clock.now()
        known = self.workloads.of({each.pod_uid for each in found})
        nobody = PodOwner("", "")
        shown = [_shown(each, known.get(each.pod_uid, nobody), now=now) for each in found]
        head = {"apiVersion": names.API_VERSION, "kind": kind_of_list, "now": now}
        return answer({**head, "items": shown})


def _shown(one: TokenLease | Grant, workload: PodOwner, *, now: float) -> Json:
    state = {"state": one.state(now=now)} if isinstance(one, TokenLease) else {}
    return {**asdict(one), **state, "owner_kind": workload.kind, "owner": workload.name}
