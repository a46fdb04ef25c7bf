"""`/api/v1/rolls`: takes requests for slow rolls, and shows how far they are."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.access.gates import PERSON
from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.database.failures import AGAIN
from nemutator_controller.database.refusals import explained
from nemutator_controller.queries import limit_in
from nemutator_controller.rolling import documents, strategies
from nemutator_controller.rolling.documents import InvalidRollError
from nemutator_controller.rolling.ports import RollRights, RollStore, Workloads
from nemutator_controller.rolling.records import (
    Roll,
    RolledWorkload,
    WorkloadChangedError,
    WorkloadGoneError,
    WorkloadRefusedError,
    WorkloadUnreachableError,
)
from nemutator_controller.rolling.rolling import (
    RolledAlreadyError,
    SlowRolls,
    TooManyRollsError,
)

log = logging.getLogger(__name__)

ROLLS_PATH = "/api/v1/rolls"
LISTED, MOST_LISTED = 50, 500
LONGEST_ID = 64
LOCAL = "local"

Handler = Callable[[web.Request], Awaitable[web.Response]]


class ForbiddenRollError(Exception):
    """Whoever asks may not write the workload themselves."""


@dataclass(frozen=True, slots=True)
class RollsApi:
    rolls: SlowRolls
    store: RollStore
    workloads: Workloads
    rights: RollRights
    fresh: Callable[[], str]
    """Makes unused ids of rolls."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        one = f"{ROLLS_PATH}/{{id}}"
        return [
            allowed("get", "rolls", web.get(ROLLS_PATH, _with_remedies(self._list)), narrows=True),
            allowed("get", "rolls", web.get(one, _with_remedies(self._show)), narrows=True),
            allowed(
                "create", "rolls", web.post(ROLLS_PATH, _with_remedies(self._ask)), narrows=True
            ),
            allowed(
                "update", "rolls", web.post(f"{one}/stop", _with_remedies(self._stop)), narrows=True
            ),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=LISTED, most=MOST_LISTED)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST_LISTED}", f"leave it out for {LISTED}")
        found = await self.store.rolls(
            namespace=request.query.get("namespace") or None, limit=limit
        )
        return answer(documents.listed(found))

    async def _show(self, request: web.Request) -> web.Response:
        roll = await self._roll(request)
        return _unknown() if roll is None else answer(documents.shown(roll))

    async def _stop(self, request: web.Request) -> web.Response:
        if (roll := await self._roll(request)) is None:
            return _unknown()
        await self._permit(request, roll.workload)
        await self.rolls.stop(roll.id, why=f"{_who(request)} ended it")
        return answer(documents.shown(await self.store.roll(roll.id) or roll))

    async def _ask(self, request: web.Request) -> web.Response:
        asked = documents.question(await request.read())
        narrowed = request.query.get("namespace")
        if narrowed and narrowed != asked.workload.namespace:
            raise InvalidRollError("namespace: the body names another one than the query")
        await self._permit(request, asked.workload)
        live = await self.workloads.get(asked.workload)
        if asked.plan_only:
            return answer(documents.planned(live, asked))
        if why := strategies.why_not(live.workload.kind, live.document):
            return refusal(409, f"{live.workload} is not rolled: {why}", "change that first")
        roll = Roll(
            id=self.fresh(),
            at=self.process.clock.now(),
            by=_who(request),
            reason=asked.reason,
            workload=live.workload,
            deadline_s=asked.deadline_s,
            window=asked.window,
            off_peak=asked.off_peak,
        )
        await self.rolls.add(roll)
        log.info("roll_requested", {names.OBJECT: str(roll.workload), names.PEER: roll.by})
        return answer(documents.shown(roll), status=202)

    async def _permit(self, request: web.Request, workload: RolledWorkload) -> None:
        """The brain may write more than most people: it asks for whoever asks it."""
        person = request.get(PERSON)
        if person is not None and not await self.rights.may(person, workload):
            raise ForbiddenRollError(f"{person.username} may not patch {workload}")

    async def _roll(self, request: web.Request) -> Roll | None:
        roll = await self.store.roll(request.match_info["id"][:LONGEST_ID])
        namespace = request.query.get("namespace")
        # To whom only one namespace is shown, a roll in another one does not exist.
        hidden = roll is not None and namespace and roll.workload.namespace != namespace
        return None if hidden else roll


@dataclass(frozen=True, slots=True)
class NoRollsApi:
    """Off clusters there is nothing to roll."""

    def routes(self) -> list[AllowedRoute]:
        return [
            allowed("get", "rolls", web.get(ROLLS_PATH, self._refuse)),
            allowed("create", "rolls", web.post(ROLLS_PATH, self._refuse)),
        ]

    async def _refuse(self, request: web.Request) -> web.Response:
        remedy = "ask the brain of a cluster: --brain https://HOST:PORT"
        return refusal(409, "this brain is in no cluster: it has no workloads to roll", remedy)


def _with_remedies(handler: Handler) -> Handler:
    """*handler*, whose errors become responses with a remedy."""

    async def answering(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except InvalidRollError as error:
            return refusal(400, str(error), f"send {documents.EXAMPLE_ROLL}")
        except ForbiddenRollError as error:
            remedy = "ask an administrator of the cluster to grant it by RBAC"
            return refusal(403, str(error), remedy)
        except WorkloadGoneError as error:
            return refusal(404, str(error), "`kubectl get` lists those that there are")
        except RolledAlreadyError:
            return refusal(409, "a roll of it is not finished yet", "wait for it, or stop it")
        except TooManyRollsError:
            return refusal(429, "too many rolls are not finished yet", "wait for some of them")
        except (WorkloadRefusedError, WorkloadChangedError) as error:
            return refusal(409, str(error), "look at the workload, then ask again")
        except (UnknownNowError, WorkloadUnreachableError) as error:
            return unavailable(f"the API server: {error}", AGAIN)

    return explained(answering)


def _who(request: web.Request) -> str:
    person = request.get(PERSON)
    return LOCAL if person is None else person.username


def _unknown() -> web.Response:
    return refusal(404, "no such roll", "`nemutator roll --list` shows those that are kept")
