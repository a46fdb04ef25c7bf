"""Profiles on request: the brain asks for them, they are made one by one, and reported to the brain.

Three tasks, so that none waits for what another waits for: `poll` for requests, `work` on them,
`report` their outcomes. A request that fails has an outcome, and never ends the agent.
"""

import asyncio
import functools
import logging
from collections import OrderedDict
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.backoff import Backoff, spread_s
from nemutator_common.process import Process
from nemutator_common.shipping.links import BatchRefusedError, LinkError
from nemutator_common.wire import (
    ProfileOutcome,
    ProfilePhase,
    ProfileRequest,
)

from nemutator_agent.profiler.making import ProfileMaking
from nemutator_agent.profiler.outbox import Outbox
from nemutator_agent.profiler.ports import (
    ProfileLink,
)
from nemutator_agent.profiler.printable_text import printable
from nemutator_agent.profiler.refusals import ProfileRefused

log = logging.getLogger(__name__)

MOST_WAITING = 8
_MOST_REMEMBERED = 256
"""The most ids of requests: the brain repeats a request until an outcome has reached it."""

_WAIT_S = 25.0
_POLL_S = 40.0
_REPORT_S = 30.0
_PAUSE_S = 1.0
"""A pause while the brain repeats requests that are known: our outcome has not reached it yet."""

_LONGEST_REASON = 500
_BACKOFF = Backoff(first_s=0.5, longest_s=30.0, fixed=0.1)
_STREAM = "profiles"


@dataclass(eq=False, slots=True)
class ProfileSessions:
    """`poll`, `work` and `report` are tasks for a Supervisor."""

    link: ProfileLink
    making: ProfileMaking
    process: Process
    _: KW_ONLY
    node: str
    _requests: asyncio.Queue[ProfileRequest] = field(
        default_factory=lambda: asyncio.Queue(MOST_WAITING), init=False
    )
    _known: OrderedDict[str, None] = field(default_factory=OrderedDict, init=False)
    _outbox: Outbox = field(default_factory=Outbox, init=False)
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def poll(self) -> None:
        failures = 0
        while True:
            try:
                async with asyncio.timeout(_POLL_S):
                    requests = await self.link.requests(_WAIT_S)
            except (LinkError, TimeoutError) as error:
                failures += 1
                await self._after_failure(error, failures)
                continue
            failures = 0
            new = [one for one in requests if one.id not in self._known]
            for request in new:
                self._take(request)
            if requests and not new:
                await self.process.clock.sleep(_PAUSE_S)

    async def work(self) -> None:
        while True:
            request = await self._requests.get()
            self._enter(request, "preparing")
            with self.process.tracer.span(names.PROFILE_SPAN) as span:
                outcome = await self._outcome(request)
                span.note(profile=request.id, kind=request.measure, state=outcome.state)
            self._put(outcome)

    async def report(self) -> None:
        failures = 0
        while True:
            outcome = self._outbox.first()
            if outcome is None:
                self._news.clear()
                await self._news.wait()
                continue
            try:
                async with asyncio.timeout(_REPORT_S):
                    await self.link.report(outcome)
            except BatchRefusedError as error:
                failures = 0
                self._outbox.forget(outcome)
                self._not_taken(outcome, error)
            except (LinkError, TimeoutError) as error:
                failures += 1
                await self._after_failure(error, failures)
            else:
                failures = 0
                self._outbox.forget(outcome)

    def _take(self, request: ProfileRequest) -> None:
        self._known[request.id] = None
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        try:
            self._requests.put_nowait(request)
        except asyncio.QueueFull:
            self.process.meter.count(names.PROFILE_SESSIONS, result="busy")
            refusal = ProfileRefused(
                "busy",
                f"{MOST_WAITING} profiles wait on this node already",
                remedy="ask again when they are made",
            )
            self._put(self._refused(request, refusal))

    def _put(self, outcome: ProfileOutcome) -> None:
        for dropped in self._outbox.put(outcome):
            self.process.meter.count(names.PROFILE_OUTCOMES_DROPPED, reason="outbox_full")
            log.warning("profile_dropped", {names.PROFILE_ID: dropped.id})
        self._news.set()

    def _enter(self, request: ProfileRequest, phase: ProfilePhase, recorded: int = 0) -> None:
        """Let people who wait for the profile see what it is at."""
        running = ProfileOutcome(
            id=request.id, node=self.node, state="running", phase=phase, recorded=recorded
        )
        self._put(running)

    async def _outcome(self, request: ProfileRequest) -> ProfileOutcome:
        try:
            outcome = await self.making.make(request, functools.partial(self._enter, request))
        except ProfileRefused as refusal:
            return self._failed(request, refusal)
        except Exception as error:
            # A defect in one profile may not end the agent's other work.
            log.exception("profile_failed", {names.PROFILE_ID: request.id})
            defect = ProfileRefused(
                "internal",
                f"a defect of nemutator ({type(error).__name__})",
                remedy="the log of `nemutator-agent observe` on this node has the details",
            )
            return self._failed(request, defect)
        self.process.meter.count(names.PROFILE_SESSIONS, result="done")
        log.info(
            "profile_done",
            {
                names.PROFILE_ID: request.id,
                names.COUNT: outcome.recorded,
                names.BYTES: len(outcome.pprof),
            },
        )
        return outcome

    def _failed(self, request: ProfileRequest, refusal: ProfileRefused) -> ProfileOutcome:
        self.process.meter.count(names.PROFILE_SESSIONS, result=refusal.reason)
        log.info(
            "profile_refused",
            {
                names.PROFILE_ID: request.id,
                names.REASON: refusal.reason,
                names.ERROR: str(refusal)[:_LONGEST_REASON],
            },
        )
        return self._refused(request, refusal)

    def _refused(self, request: ProfileRequest, refusal: ProfileRefused) -> ProfileOutcome:
        return ProfileOutcome(
            id=request.id,
            node=self.node,
            state="refused",
            reason=printable(refusal.what, longest=_LONGEST_REASON),
            remedy=printable(refusal.remedy, longest=_LONGEST_REASON),
            hz=request.hz,
        )

    def _not_taken(self, outcome: ProfileOutcome, error: BatchRefusedError) -> None:
        """The brain does not take the profile: report at least that, so that its wait ends."""
        self.process.meter.count(names.PROFILE_OUTCOMES_DROPPED, reason=error.reason)
        log.error("profile_not_taken", {names.PROFILE_ID: outcome.id, names.ERROR: error})
        if outcome.state == "done":
            refused = replace(
                outcome,
                state="refused",
                reason=printable(
                    f"the brain did not take the profile ({error})", longest=_LONGEST_REASON
                ),
                remedy="ask for a shorter time",
                notes=(),
                pprof=b"",
            )
            self._put(refused)

    async def _after_failure(self, error: Exception, failures: int) -> None:
        reason = error.reason if isinstance(error, LinkError) else "timeout"
        self.process.meter.count(names.UPLINK_FAILURES, stream=_STREAM, reason=reason)
        log.debug("profile_link_failed", {names.ERROR: error, names.ATTEMPT: failures})
        roll = self.process.dice.random()
        asked_s = spread_s(min(getattr(error, "retry_after_s", 0.0), _BACKOFF.longest_s), roll=roll)
        delay_s = max(_BACKOFF.delay_s(failures, roll=roll), asked_s)
        await self.process.clock.sleep(delay_s)
