"""Profiles for agents: they take requests by a long poll, and post outcomes (wire.py)."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles import pprof
from nemutator_common.profiles.grade import Grade
from nemutator_common.profiles.model import Profile
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    ProfileOutcome,
    ProfileRequests,
)

from nemutator_controller.access.callers import Caller
from nemutator_controller.access.gates import CALLER
from nemutator_controller.access.routes import LaterCall, ProcessRoute, served_to
from nemutator_controller.answers import answer, refusal
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.bodies import body_of
from nemutator_controller.profiles.documents import decoded
from nemutator_controller.profiles.outcomes import InvalidOutcomeError, decode
from nemutator_controller.profiles.profile_queue import (
    ForeignProfileError,
    ProfileQueue,
    UnknownProfileError,
)
from nemutator_controller.profiles.records import ProfileRecord

CHECK_S = 20.0


@dataclass(frozen=True, slots=True)
class AgentsApi:
    queue: ProfileQueue
    process: Process
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One at a time: 4 MiB that unpack to 32 take seconds of a core."""

    def routes(self) -> list[ProcessRoute]:
        give = web.get(PROFILE_REQUESTS_PATH, self._give, allow_head=False)
        return [
            served_to({"agent", "local"}, give, later=self._give_later),
            served_to({"agent", "local"}, web.post(PROFILES_PATH, self._take)),
        ]

    async def _give(self, request: web.Request) -> web.Response:
        return await self._given(request.query, request[CALLER])

    async def _give_later(self, call: LaterCall) -> web.Response:
        return await self._given(call.query, call.caller)

    async def _given(self, query: Mapping[str, str], caller: Caller) -> web.Response:
        node, wait_s = query.get("node", ""), _seconds(query.get("wait_s", "0"))
        if wait_s is None or not node:
            return refusal(400, "expected node and wait_s", "send what wire.py describes")
        if not caller.may_speak_for(node):
            return _forbidden()
        return answer(ProfileRequests(await self.queue.take(node, wait_s)))

    async def _take(self, request: web.Request) -> web.Response:
        try:
            outcome = decode(await body_of(request))
            if not request[CALLER].may_speak_for(outcome.node):
                raise ForeignProfileError
            profile = await self.queue.of(outcome)
            try:
                grade = await self._grade(outcome, profile)
            except pprof.MalformedProfileError:
                refused = replace(
                    outcome,
                    state="refused",
                    reason="its agent sent something that is no profile",
                    remedy="the agent's log says why",
                    pprof=b"",
                )
                await self.queue.report(refused)
                return self._refuse(400, "pprof", "pprof: it cannot be read")
            profile = await self.queue.report(outcome, grade)
        except InvalidOutcomeError as refused:
            return self._refuse(400, refused.reason, str(refused))
        except UnknownProfileError:
            # Not 404: an agent takes that for a brain that is not there yet, and tries for ever.
            return self._refuse(422, "unknown", "nobody asks for this profile any more")
        except ForeignProfileError:
            self.process.meter.count(names.PROFILE_OUTCOMES_REFUSED, reason="forbidden")
            return _forbidden()
        except (StoreUnavailableError, TimeoutError) as failure:
            response = self._refuse(503, "store", f"it was not stored: {failure}")
            response.headers["Retry-After"] = "5"
            return response
        return answer({"id": profile.id, "state": profile.state})

    async def _grade(self, outcome: ProfileOutcome, profile: ProfileRecord) -> Grade | None:
        """The grade that its agent has written into it. Raises MalformedProfileError."""
        if outcome.state != "done" or profile.state == "done":
            return None
        async with asyncio.timeout(CHECK_S), self._checking:
            named = await asyncio.to_thread(decoded, outcome.pprof, profile.measure)
        return named.grade if isinstance(named, Profile) else None

    def _refuse(self, status: int, reason: str, what: str) -> web.Response:
        self.process.meter.count(names.PROFILE_OUTCOMES_REFUSED, reason=reason)
        return refusal(status, what, "send what wire.py describes")


def _forbidden() -> web.Response:
    return refusal(403, "this caller may not speak for that node", "ask under the node's own name")


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
