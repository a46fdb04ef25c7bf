"""Profiles on request: the brain asks for them, they are made one by one, and reported to the brain.

Three tasks, so that none waits for what another waits for: `poll` for requests, `work` on them,
`report` their outcomes. A request that fails has an outcome, and never ends the agent.
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.backoff import Backoff, spread_s
from nemutator_common.process import Process
from nemutator_common.profiles.model import SampleLabels
from nemutator_common.shipping.links import BatchRefusedError, LinkError
from nemutator_common.wire import (
    LARGEST_PROFILE_BYTES,
    ProfileOutcome,
    ProfilePhase,
    ProfileRequest,
)

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.cpu_time import spent
from nemutator_agent.profiler.outbox import Outbox
from nemutator_agent.profiler.ports import (
    ExecutableCode,
    HeapProfiles,
    ProfileLink,
    Sampler,
    Sampling,
    Symboliser,
    Targets,
)
from nemutator_agent.profiler.printable_text import printable
from nemutator_agent.profiler.raw import NANOSECONDS, RawProfile, Task, Thread
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.remarks import off_cpu_remarks, remarks

log = logging.getLogger(__name__)

MOST_WAITING = 8
_MOST_REMEMBERED = 256
"""The most ids of requests: the brain repeats a request until an outcome has reached it."""

_WAIT_S = 25.0
_POLL_S = 40.0
_REPORT_S = 30.0
_PAUSE_S = 1.0
"""A pause while the brain repeats requests that are known: our outcome has not reached it yet."""

_DRAIN_S = 0.125
"""The pause between two looks at what is sampled: a process that ends sooner may be missed."""
_KEEP_S = 5.0
"""The time to look at new programs at one time, while nothing is drained."""
MOST_PROGRAMS = 4096
"""The most programs of one session that are looked at while it goes on."""
_INSTANT_S = 1e-6
NO_TEXT = 0, 0
"""Of a process that is not Go: no address is between them."""

_LONGEST_ID = 128
_LONGEST_REASON = 500
_MOST_NOTES = 32
_LONGEST_NOTE = 500
_BACKOFF = Backoff(first_s=0.5, longest_s=30.0, fixed=0.1)
_STREAM = "profiles"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that a request may ask for, and how long parts of it may take."""

    seconds: float
    hz: int
    code_s: float = 2.0
    """The time to find the code of processes, while a person waits for the first sample."""


@dataclass(eq=False, slots=True)
class ProfileSessions:
    """`poll`, `work` and `report` are tasks for a Supervisor."""

    link: ProfileLink
    targets: Targets
    sampler: Sampler
    off_cpu: Sampler
    code: ExecutableCode
    symboliser: Symboliser
    heaps: HeapProfiles
    process: Process
    _: KW_ONLY
    node: str
    bounds: Bounds
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
            self._enter("preparing", request)
            self._put(await self._outcome(request))

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

    def _enter(self, phase: ProfilePhase, request: ProfileRequest, *, recorded: int = 0) -> None:
        """Let people who wait for the profile see what it is at."""
        running = ProfileOutcome(
            id=request.id, node=self.node, state="running", phase=phase, recorded=recorded
        )
        self._put(running)

    async def _outcome(self, request: ProfileRequest) -> ProfileOutcome:
        try:
            made = self._heap if request.measure == "heap" else self._made
            outcome = await made(request)
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

    async def _made(self, request: ProfileRequest) -> ProfileOutcome:
        self._check(request)
        try:
            return await self._sampled(request)
        finally:
            self.symboliser.forget()

    async def _sampled(self, request: ProfileRequest) -> ProfileOutcome:
        resolved = await self.targets.resolve(request.target)
        texts, notes = await self._code(resolved.processes)
        is_off_cpu = request.measure == "off-cpu"
        sampler = self.off_cpu if is_off_cpu else self.sampler
        selection = replace(resolved.selection, threads=request.threads)
        sampling = await sampler.start(selection, hz=request.hz, texts=texts)
        try:
            self._enter("sampling", request)
            started_at, begun = self.process.clock.now(), self.process.clock.monotonic()
            before = resolved.cpu_seconds()
            labels = await self._until(begun + request.seconds, sampling)
            seconds = self.process.clock.monotonic() - begun
            cpu_seconds = spent(before, resolved.cpu_seconds())
            samples = await sampling.stop()
        finally:
            await sampling.discard()
        raw = RawProfile(
            hz=NANOSECONDS if is_off_cpu else request.hz,
            started_at=started_at,
            seconds=seconds,
            rows=samples.rows,
            recorded=samples.recorded,
            lost=samples.lost,
            cpu_seconds=cpu_seconds,
            labels=labels,
            thread_names=await self._thread_names(samples),
        )
        if is_off_cpu:
            said = off_cpu_remarks(raw, truncated=samples.truncated, untimed=samples.untimed)
        else:
            said = remarks(raw, truncated=samples.truncated)
            self._count(samples)
        self._enter("symbolising", request, recorded=samples.recorded)
        pprof, more = await self._symbolised(raw)
        return ProfileOutcome(
            id=request.id,
            node=self.node,
            state="done",
            started_at=started_at,
            seconds=seconds,
            hz=request.hz,
            recorded=raw.recorded,
            lost=dict(raw.lost),
            cpu_seconds=cpu_seconds,
            notes=_printable_notes(*notes, *said, *more),
            pprof=pprof,
        )

    async def _heap(self, request: ProfileRequest) -> ProfileOutcome:
        resolved = await self.targets.resolve(request.target)
        heap = await self.heaps.read(resolved.processes)
        return ProfileOutcome(
            id=request.id,
            node=self.node,
            state="done",
            started_at=heap.started_at,
            recorded=heap.sites,
            notes=_printable_notes(*heap.notes),
            pprof=_fitting(heap.pprof),
        )

    def _check(self, request: ProfileRequest) -> None:
        if not 0 < request.seconds <= self.bounds.seconds:
            raise ProfileRefused(
                "request",
                f"this node makes no profile of {request.seconds:g} s",
                remedy=f"ask for at most {self.bounds.seconds:g} s (setting observe.profile_seconds)",
            )
        if request.measure == "cpu" and not 1 <= request.hz <= self.bounds.hz:
            raise ProfileRefused(
                "request",
                f"this node does not sample at {request.hz} Hz",
                remedy=f"ask for 1 to {self.bounds.hz} Hz (setting observe.profile_hz)",
            )

    async def _code(
        self, processes: Sequence[int]
    ) -> tuple[dict[int, tuple[int, int]], tuple[str, ...]]:
        """Whether it is Go is seen while samples come already: the worker that tells it takes longer to
        start than all else."""
        found: dict[int, tuple[int, int]] = {}
        asked = 0
        try:
            async with asyncio.timeout(self.bounds.code_s):
                for pid in processes:
                    code = await self.code.code_of(pid)
                    asked += 1
                    if code is not None:
                        found[pid] = code
        except TimeoutError:
            left = len(processes) - asked
            note = (
                f"{left} process{'es' if left > 1 else ''} could not be looked at in time: where "
                "they are Go, callers of leaf functions may be missing at the beginning"
            )
            return found, (note,)
        return found, ()

    async def _until(self, end: float, sampling: Sampling) -> dict[int, SampleLabels]:
        """Keep up with *sampling* until then, and keep the programs that it sees; the labels of their
        processes."""
        seen: set[Task] = set()
        labels: dict[int, SampleLabels] = {}
        while (left := end - self.process.clock.monotonic()) > _INSTANT_S:
            await self.process.clock.sleep(min(_DRAIN_S, left))
            new = [one for one in await sampling.drain() if one.task not in seen]
            some = {one.task[0] for one in new[: MOST_PROGRAMS - len(seen)]} - labels.keys()
            if some:
                labels |= await self.targets.labels_of(sorted(some))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_KEEP_S):
                    for program in new[: MOST_PROGRAMS - len(seen)]:
                        seen.add(program.task)
                        text = await self.symboliser.keep(program)
                        await sampling.add_text(program.task[0], text or NO_TEXT)
        return labels

    async def _thread_names(self, samples: Samples) -> Mapping[Thread, str]:
        threads = {(row.tgid, row.thread) for row in samples.rows if row.thread}
        return await self.targets.thread_names(threads) if threads else {}

    async def _symbolised(self, raw: RawProfile) -> tuple[bytes, tuple[str, ...]]:
        pprof, notes = await self.symboliser.symbolise(raw)
        return _fitting(pprof), notes

    def _count(self, samples: Samples) -> None:
        self.process.meter.count(names.PROFILE_SAMPLES, samples.recorded, result="recorded")
        for reason, count in samples.lost.items():
            self.process.meter.count(names.PROFILE_SAMPLES, count, result=reason)

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


def _fitting(pprof: bytes) -> bytes:
    if len(pprof) > LARGEST_PROFILE_BYTES:
        raise ProfileRefused(
            "symbols",
            f"the profile has {len(pprof)} bytes, more than {LARGEST_PROFILE_BYTES}",
            remedy="ask for a shorter time or fewer processes",
        )
    return pprof


def _printable_notes(*notes: str) -> tuple[str, ...]:
    """The notes as the brain takes them: processes choose names, and may have very many files."""
    shown = [printable(note, longest=_LONGEST_NOTE) for note in notes]
    if len(shown) > _MOST_NOTES:
        shown[_MOST_NOTES - 1 :] = [f"and {len(shown) - _MOST_NOTES + 1} more notes"]
    return tuple(shown)
