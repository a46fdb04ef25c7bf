"""`/api/v1/evictions`: plans evictions, takes requests for them, and shows their progress."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.access.gates import PERSON
from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.database.refusals import explained
from nemutator_controller.evictions import documents
from nemutator_controller.evictions.documents import EvictionQuestion, InvalidEvictionError
from nemutator_controller.evictions.evicting import EvictionQueue, TooManyEvictionsError
from nemutator_controller.evictions.plans import MOST_PODS, EvictionPlan, plan
from nemutator_controller.evictions.ports import EvictablePods, EvictionRights, EvictionStore
from nemutator_controller.evictions.records import EvictionRequest
from nemutator_controller.kube.label_selectors import SelectorError
from nemutator_controller.queries import limit_in

log = logging.getLogger(__name__)

EVICTIONS_PATH = "/api/v1/evictions"

LISTED, MOST_LISTED = 50, 500
LONGEST_ID = 64
LOCAL = "local"
"""Who asks on the unix socket: a process of this machine, which may read what the brain itself may."""

LIST_REMEDY = "`nemutator evict --list` shows those that are kept"
PLAN_REMEDY = "look at the plan, then say its id and --all"


class NotToEvictError(Exception):
    """The request is understood, and refused."""

    def __init__(self, status: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.status = status
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class EvictionsApi:
    queue: EvictionQueue
    store: EvictionStore
    pods: EvictablePods
    rights: EvictionRights
    fresh: Callable[[], str]
    """Makes unused ids of requests."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        one = f"{EVICTIONS_PATH}/{{id}}"
        return [
            allowed(
                "get", "evictions", web.get(EVICTIONS_PATH, explained(self._list)), narrows=True
            ),
            allowed("get", "evictions", web.get(one, explained(self._show)), narrows=True),
            allowed(
                "create", "evictions", web.post(EVICTIONS_PATH, explained(self._ask)), narrows=True
            ),
            allowed("update", "evictions", web.post(f"{one}/cancel", explained(self._cancel))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=LISTED, most=MOST_LISTED)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST_LISTED}", f"leave it out for {LISTED}")
        found = await self.store.requests(namespace=_namespace(request), limit=limit)
        return answer(documents.listed(found))

    async def _show(self, request: web.Request) -> web.Response:
        id_ = request.match_info["id"][:LONGEST_ID]
        found = await self.store.request(id_, namespace=_namespace(request))
        return _unknown() if found is None else answer(documents.shown(*found))

    async def _cancel(self, request: web.Request) -> web.Response:
        id_ = request.match_info["id"][:LONGEST_ID]
        found = await self.store.request(id_, namespace=None)
        if found is None:
            return _unknown()
        if await self.queue.cancel(id_):
            log.info("evictions_cancelled", {names.REQUEST: id_, names.PEER: _who(request)})
            found = await self.store.request(id_, namespace=None) or found
        return answer(documents.shown(*found))

    async def _ask(self, request: web.Request) -> web.Response:
        try:
            asked = _within(documents.question(await request.read()), _namespace(request))
            planned = await self._plan(asked)
            await self._permit(request, planned)
            if asked.plan_only:
                return answer(documents.planned(planned))
            _agreed(asked, planned)
            return await self._take(request, asked, planned)
        except (InvalidEvictionError, SelectorError) as error:
            return refusal(400, str(error), f"send {documents.EXAMPLE}")
        except UnknownNowError as unknown:
            return unavailable(
                f"your permissions cannot be known now: {unknown}", "ask again later"
            )
        except TooManyEvictionsError:
            what = "too many pods are in the queue already"
            return refusal(429, what, "wait until some are evicted, or cancel a request")
        except NotToEvictError as error:
            return refusal(error.status, str(error), error.remedy)

    async def _plan(self, asked: EvictionQuestion) -> EvictionPlan:
        pods = await self.pods.now()
        if pods is None:
            raise NotToEvictError(503, "the cluster's pods are not listed yet", "ask again later")
        planned = plan(asked.selection, pods, asked_already=self.queue.uids)
        if len(planned.evictions) > MOST_PODS:
            what = f"that is more than {MOST_PODS} pods"
            raise NotToEvictError(409, what, "ask for a part: a namespace, or a node")
        return planned

    async def _permit(self, request: web.Request, planned: EvictionPlan) -> None:
        """The brain may evict more than most people: it asks for whoever asks it."""
        person = request.get(PERSON)
        if person is None:
            return
        namespaces = {each.pod.namespace for each in planned.evictions}
        namespaces |= {name.partition("/")[0] for name in planned.missing}
        if forbidden := await self.rights.forbidden(person, namespaces):
            where = ", ".join(forbidden[:5]) + (" and others" if len(forbidden) > 5 else "")
            what = f"{person.username} may not create pods/eviction in namespace {where}"
            remedy = "ask an administrator of the cluster to grant it by RBAC"
            raise NotToEvictError(403, what, remedy)

    async def _take(
        self, request: web.Request, asked: EvictionQuestion, planned: EvictionPlan
    ) -> web.Response:
        now = self.process.clock.now()
        made = EvictionRequest(
            id=self.fresh(),
            at=now,
            until=now + asked.within_s,
            by=_who(request),
            reason=asked.reason,
            selection=str(asked.selection),
        )
        await self.queue.add(made, planned.chosen)
        log.info(
            "evictions_requested",
            {
                names.REQUEST: made.id,
                names.PEER: made.by,
                names.COUNT: len(planned.chosen),
                names.REASON: made.reason,
            },
        )
        found = await self.store.request(made.id, namespace=None)
        return answer(documents.shown(*(found or (made, ()))), status=202)


@dataclass(frozen=True, slots=True)
class NoClusterApi:
    """Off clusters there is nothing to evict."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "evictions", web.get(EVICTIONS_PATH, self._refuse)),
            allowed("create", "evictions", web.post(EVICTIONS_PATH, self._refuse)),
        ]

    async def _refuse(self, request: web.Request) -> web.Response:
        remedy = "ask the brain of a cluster: --brain https://HOST:PORT"
        return refusal(409, "this brain is in no cluster: it has no pods to evict", remedy)


def _agreed(asked: EvictionQuestion, planned: EvictionPlan) -> None:
    """Raise `NotToEvictError` unless this is what somebody has agreed to."""
    if not planned.chosen:
        whys = sorted({each.why_not for each in planned.evictions})
        what = f"no such pod can be evicted: {whys[0]}" if whys else "there is no such pod"
        raise NotToEvictError(404, what, "look at the plan")
    if planned.takes_all and not (asked.all and asked.plan):
        what = f"that is every pod that can be evicted, {len(planned.chosen)} of them"
        raise NotToEvictError(409, what, PLAN_REMEDY)
    if asked.plan and asked.plan != planned.id:
        what = "the plan is another one by now: pods have come or gone"
        raise NotToEvictError(409, what, "look at the plan again")


def _within(asked: EvictionQuestion, namespace: str | None) -> EvictionQuestion:
    """Of *asked*, what is in the *namespace* that the permission of the caller is for."""
    if namespace is None:
        return asked
    selection = asked.selection
    elsewhere = {each for each, _ in selection.pods} | {selection.namespace} - {""}
    if elsewhere - {namespace}:
        raise InvalidEvictionError("namespace: the body names another one than the query")
    return replace(asked, selection=replace(selection, namespace=namespace))


def _namespace(request: web.Request) -> str | None:
    return request.query.get("namespace") or None


def _who(request: web.Request) -> str:
    person = request.get(PERSON)
    return LOCAL if person is None else person.username


def _unknown() -> web.Response:
    return refusal(404, "no such request for evictions", LIST_REMEDY)
