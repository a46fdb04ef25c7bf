"""`/api/v1/mutations`: lists what was changed and takes it back; and the tombstones for admission."""

import hashlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
from aiohttp import web
from nemutator_common import names
from nemutator_common.admission_snapshots import TOMBSTONES_PATH, TombstoneSnapshot
from nemutator_common.process import Process

from nemutator_controller.access.gates import CALLER
from nemutator_controller.access.routes import AllowedRoute, ProcessRoute, allowed, served_to
from nemutator_controller.answers import answer, refusal, unavailable, unless_known
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.journal import documents
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.live_objects import ObjectRefusedError, UnreachableError
from nemutator_controller.journal.ports import JournalStore
from nemutator_controller.journal.records import LONGEST_ID, JournalEntry, Narrowing, names_of
from nemutator_controller.journal.rolling_back import NotToReverseError, RollingBack
from nemutator_controller.mutations.decisions import Subject, pod_subject
from nemutator_controller.queries import flag_in, limit_in

log = logging.getLogger(__name__)

MUTATIONS_PATH = "/api/v1/mutations"

STAMPED = "marked"
"""In the place of an id: the mutation whose stamp a pod carries."""

LOCAL_REPLICA = "local"
LONGEST_PROCESS = 32
"""Characters of what tells the processes of one replica apart."""
"""The name of an admission on this machine, which proves itself by the link token and has none."""

_TIMES = (("since", "0"), ("until", "inf"))

MOST_LISTED = 1_000
LISTED = 100
LONGEST_WORD = 253

Handler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True)
class MutationsApi:
    store: JournalStore
    rolling_back: RollingBack
    process: Process

    def routes(self) -> list[AllowedRoute]:
        one = f"{MUTATIONS_PATH}/{{id}}"
        return [
            allowed(
                "get",
                "mutations",
                web.get(MUTATIONS_PATH, explained(self._list, "reading mutations")),
                narrows=True,
            ),
            allowed(
                "get", "mutations", web.get(one, explained(self._show, "reading this mutation"))
            ),
            allowed(
                "update",
                "mutations",
                web.post(f"{one}/rollback", explained(self._roll_back, "rollback")),
            ),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=LISTED, most=MOST_LISTED)
        words = [request.query.get(word) or None for word in ("namespace", "name")]
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST_LISTED}", "ask for 100")
        if any(word is not None and len(word) > LONGEST_WORD for word in words):
            return refusal(400, "namespace or name: too long", "write it as Kubernetes does")
        if (only := _narrowing(request)) is None:
            return refusal(
                400,
                "policy, workload, since, until, standing: one is not what was expected",
                "write KIND/NAME for a workload, seconds since 1970 for times, true for standing",
            )
        namespace, name = words
        entries = await self.store.entries(namespace=namespace, name=name, limit=limit, only=only)
        return answer(documents.listed(entries))

    async def _show(self, request: web.Request) -> web.Response:
        entry = await self._entry(request)
        if entry is None:
            return _unknown()
        reversals = await self.store.reversals(entry.decision.id)
        return answer(documents.shown(entry, reversals))

    async def _roll_back(self, request: web.Request) -> web.Response:
        only_plan, evict, dry_run = (
            flag_in(request.query.get(word)) for word in ("plan", "evict", "dry_run")
        )
        if only_plan is None or evict is None or dry_run is None:
            return refusal(
                400, "plan, evict, dry_run: expected true or false", "leave them out for false"
            )
        policy = request.query.get("policy", "")
        if len(policy) > LONGEST_WORD:
            return refusal(400, "policy: too long", "write its name as Kubernetes does")
        if request.match_info["id"] == STAMPED:
            if (pod := _pod(request)) is None:
                return refusal(400, "pod: expected NAMESPACE/NAME", "write it as team/web-1")
            decision = await self.rolling_back.stamped(pod)
        elif (entry := await self._entry(request)) is not None:
            decision = entry.decision
        else:
            return _unknown()
        if only_plan:
            plan = await self.rolling_back.plan(decision, policy=policy)
            return answer(documents.planned(plan, evict=evict))
        if dry_run:
            rehearsed = await self.rolling_back.rehearse(decision, policy=policy)
            return answer(documents.taken_back(rehearsed, decision.subject))
        reversal = await self.rolling_back.roll_back(decision, evict=evict, policy=policy)
        self.process.meter.count(names.REVERSALS, state=reversal.state)
        log.info(
            "mutation_taken_back",
            {
                names.DECISION: decision.id,
                names.OBJECT: names_of(decision.subject),
                names.STATE: reversal.state,
            },
        )
        return answer(documents.taken_back(reversal, decision.subject))

    async def _entry(self, request: web.Request) -> JournalEntry | None:
        word = request.match_info["id"]
        return await self.store.entry(word) if len(word) <= LONGEST_ID else None


@dataclass(frozen=True, slots=True)
class TombstonesApi:
    """For admission, on the uplink."""

    store: JournalStore
    replicas: AdmissionReplicas

    def routes(self) -> list[ProcessRoute]:
        give = explained(self._give, "reading what was taken back")
        route = web.get(TOMBSTONES_PATH, give, allow_head=False)
        return [served_to({"admission", "local"}, route)]

    async def _give(self, request: web.Request) -> web.Response:
        caller = request[CALLER]
        # It counts as asked before they are read: what is taken back in between is not in the response.
        process = request.query.get("process", "")[:LONGEST_PROCESS]
        self.replicas.asked(caller.name or LOCAL_REPLICA, process)
        document = TombstoneSnapshot(
            tuple(sorted(kept.tombstone for kept in await self.store.tombstones()))
        )
        tag = hashlib.blake2b(msgspec.json.encode(document), digest_size=16).hexdigest()
        return unless_known(request, document, tag=tag)


def explained(handler: Handler, asked: str) -> Handler:
    """*handler*, whose errors become responses with a remedy; *asked* says what was not finished."""

    async def explaining(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except NotToReverseError as error:
            return refusal(409, str(error), error.remedy)
        except ObjectRefusedError as error:
            return refusal(409, str(error), "change what it names, then ask again")
        except (UnreachableError, StoreUnavailableError) as error:
            who = "the database: " if isinstance(error, StoreUnavailableError) else ""
            what = f"{asked} was not finished: {who}{error}"
            return unavailable(what, error.remedy, full=error.full)

    return explaining


def _narrowing(request: web.Request) -> Narrowing | None:
    """None when a word of the request is not understood."""
    query = request.query
    standing = flag_in(query.get("standing"))
    kind, slash, name = query.get("workload", "").partition("/")
    try:
        since, until = (float(query.get(word, usual)) for word, usual in _TIMES)
    except ValueError:
        return None
    if standing is None or bool(slash) != bool(kind and name) or (kind and not slash):
        return None
    return Narrowing(
        policy=query.get("policy", ""),
        workload=(kind, name),
        since=since,
        until=until,
        standing=standing,
    )


def _pod(request: web.Request) -> Subject | None:
    words = request.query.get("pod", "").split("/")
    if len(words) != 2 or not all(
        0 < len(word) <= LONGEST_WORD and word.isprintable() for word in words
    ):
        return None
    return pod_subject(*words)


def _unknown() -> web.Response:
    return refusal(404, "no such mutation", "`nemutator mutations` lists those that are kept")
