"""One profile as it was asked for: its target sampled for as long, or its heap read, and given its names."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles.model import SampleLabels
from nemutator_common.wire import (
    LARGEST_PROFILE_BYTES,
    ProfileOutcome,
    ProfilePhase,
    ProfileRequest,
)

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.cpu_time import spent
from nemutator_agent.profiler.ports import (
    ExecutableCode,
    HeapProfiles,
    Sampler,
    Sampling,
    Symboliser,
    Targets,
)
from nemutator_agent.profiler.printable_text import printable
from nemutator_agent.profiler.raw import NANOSECONDS, RawProfile, Task, Thread
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.remarks import off_cpu_remarks, remarks

Entering = Callable[[ProfilePhase, int], None]
"""Told of each phase that a profile comes to, and how many samples there are then."""

_DRAIN_S = 0.125
"""The pause between two looks at what is sampled: a process that ends sooner may be missed."""
_KEEP_S = 5.0
"""The time to look at new programs at one time, while nothing is drained."""
MOST_PROGRAMS = 4096
"""The most programs of one session that are looked at while it goes on."""
_INSTANT_S = 1e-6
NO_TEXT = 0, 0
"""Of a process that is not Go: no address is between them."""

_MOST_NOTES = 32
_LONGEST_NOTE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The most that a request may ask for, and how long parts of it may take."""

    seconds: float
    hz: int
    code_s: float = 2.0
    """The time to find the code of processes, while a person waits for the first sample."""


@dataclass(eq=False, slots=True)
class ProfileMaking:
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

    async def make(self, request: ProfileRequest, enter: Entering) -> ProfileOutcome:
        """Raises ProfileRefused."""
        if request.measure == "heap":
            return await self._heap(request)
        return await self._cpu(request, enter)

    async def _cpu(self, request: ProfileRequest, enter: Entering) -> ProfileOutcome:
        self._check(request)
        try:
            return await self._sampled(request, enter)
        finally:
            self.symboliser.forget()

    async def _sampled(self, request: ProfileRequest, enter: Entering) -> ProfileOutcome:
        resolved = await self.targets.resolve(request.target)
        texts, notes = await self._code(resolved.processes)
        is_off_cpu = request.measure == "off-cpu"
        sampler = self.off_cpu if is_off_cpu else self.sampler
        selection = replace(resolved.selection, threads=request.threads)
        sampling = await sampler.start(selection, hz=request.hz, texts=texts)
        try:
            enter("sampling", 0)
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
        enter("symbolising", samples.recorded)
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
