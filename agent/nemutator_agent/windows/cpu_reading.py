"""Takes a CPU window of the whole node at times, and tells the brain in which functions each process was.

One window serves all processes that are followed, so that a node never samples for two. Whoever is
asked for a profile has the sampler at once: the window then ends early, and is told as short as it was.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.windows import PAUSE_REPEATED_S, CpuWindow, WindowPause, WindowReading
from nemutator_common.wire import Missing

from nemutator_agent.windows.cpu_functions import NodeSamples, cpu_window
from nemutator_agent.windows.following import FollowedProcesses
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.observed import (
    KnownProgram,
    NotReadError,
    ObservedProcess,
    named_by_kernel,
    node_phase,
    window_process,
)
from nemutator_agent.windows.ports import CpuSampler, CpuSampling, KernelCounters, WindowSink
from nemutator_agent.windows.sent_symbols import SentSymbols

log = logging.getLogger(__name__)

CHECK_S = 5.0
"""Between two questions of whether a window may begin."""

SHORTEST = 0.2
"""The part of a window below which what was sampled is too little to tell."""

SAMPLE_S = 15e-6
"""CPU time that the kernel takes for one sample, by measurement: the budget counts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuBounds:
    seconds: float
    every_s: float
    hz: int


@dataclass(eq=False, slots=True)
class CpuReadings:
    """`run` is a task for a Supervisor."""

    followed: FollowedProcesses
    sampler: CpuSampler
    counters: KernelCounters
    sink: WindowSink
    limit: WindowLimit
    symbols: SentSymbols
    process: Process
    turn: asyncio.Lock
    """One look at a time, whatever it looks at."""
    _: KW_ONLY
    node: str
    bounds: CpuBounds
    _is_refused: bool = field(default=False, init=False)
    _told_at: float = field(default=0.0, init=False)
    """When the brain was told last of the refusal."""

    async def run(self) -> None:
        clock = self.process.clock
        due = clock.monotonic() + node_phase(self.node) * self.bounds.every_s
        while True:
            await clock.sleep(max(due - clock.monotonic(), CHECK_S))
            async with self.turn:
                if self.sampler.is_wanted or not self.limit.allows("cpu"):
                    continue
                await self._take_one()
            # A window that came late is not made up for.
            late = clock.monotonic() - due
            due += (int(late / self.bounds.every_s) + 1) * self.bounds.every_s

    async def _take_one(self) -> None:
        chosen = self.followed.now()
        if not chosen:
            return
        try:
            result = await self._take(chosen)
        except NotReadError as error:
            self._refuse(error)
            result = error.reason
        except Exception:
            # A defect in one window may not end the agent's other work.
            log.exception("window_failed", {names.COUNT: len(chosen)})
            result = "internal"
        if result != "done":
            self.process.meter.count(names.WINDOW_READINGS, window="cpu", result=result)

    async def _take(self, chosen: Sequence[ObservedProcess]) -> str:
        """The result of the window; `done`: those of its processes are counted one by one."""
        with self.limit.measured("cpu") as cost:
            sampling = await self.sampler.begin(chosen, hz=self.bounds.hz)
            if sampling is None:
                return "yielded"
            try:
                begun = self.process.clock.monotonic()
                with cost.unmeasured():
                    await self._until_over(sampling)
                seconds = self.process.clock.monotonic() - begun
                self._go_on()
                if seconds < SHORTEST * self.bounds.seconds:
                    return "yielded"
                # Whoever has opted out meanwhile is left alone.
                left = {one.id: one for one in self.followed.now()}
                still = [left[one.id] for one in chosen if one.id in left]
                samples = await sampling.end(still)
            finally:
                await sampling.discard()
            cost.add((samples.recorded + samples.lost) * SAMPLE_S)
        for one in still:
            self._tell(one, samples, seconds=seconds)
        return "done"

    async def _until_over(self, sampling: CpuSampling) -> None:
        async with asyncio.TaskGroup() as tasks:
            over = tasks.create_task(self.process.clock.sleep(self.bounds.seconds))
            wanted = tasks.create_task(sampling.until_wanted())
            await asyncio.wait((over, wanted), return_when=asyncio.FIRST_COMPLETED)
            over.cancel()
            wanted.cancel()

    def _tell(self, observed: ObservedProcess, samples: NodeSamples, *, seconds: float) -> None:
        found = samples.processes.get(observed.id)
        if found is None:
            result = "gone"
        elif isinstance(found, Missing):
            result = "symbols"
            self._put(observed, named_by_kernel(observed), None, (found,))
        else:
            result = "done"
            window, functions = cpu_window(
                found.stacks, seconds=seconds, hz=self.bounds.hz, lost_share=samples.lost_share
            )
            now, dropped = self.process.clock.monotonic(), self.sink.dropped
            for record in self.symbols.missing({}, functions, now=now, dropped=dropped):
                self.sink.put(record)
            self._put(observed, found.program, window, ())
        self.process.meter.count(names.WINDOW_READINGS, window="cpu", result=result)

    def _put(
        self,
        observed: ObservedProcess,
        program: KnownProgram,
        cpu: CpuWindow | None,
        missing: tuple[Missing, ...],
    ) -> None:
        counters, more = self.counters.read(observed)
        at = self.process.clock.now()
        self.sink.put(
            WindowReading(
                node=self.node,
                at=at,
                age_s=max(at - observed.started_at, 0.0),
                process=window_process(observed, program),
                window="cpu",
                counters=counters,
                cpu=cpu,
                missing=(*missing, *more),
            )
        )

    def _refuse(self, error: NotReadError) -> None:
        if not self._is_refused:
            log.warning("cpu_windows_refused", {names.REASON: error.reason, names.ERROR: error})
        is_old = self.process.clock.monotonic() - self._told_at >= PAUSE_REPEATED_S
        if is_old or not self._is_refused:
            self._say(error.missing)
        self._is_refused = True

    def _go_on(self) -> None:
        if self._is_refused:
            log.info("cpu_windows_go_on", {})
            self._say(None)
        self._is_refused = False

    def _say(self, refusal: Missing | None) -> None:
        is_refused = refusal is not None
        self._told_at = self.process.clock.monotonic()
        self.process.meter.gauge(names.WINDOWS_STOPPED, is_refused, reason="sampling")
        self.sink.put(
            WindowPause(
                node=self.node,
                at=self.process.clock.now(),
                paused=is_refused,
                reason="sampling",
                why=refusal.why if refusal else "",
                remedy=refusal.remedy if refusal else "",
            )
        )
