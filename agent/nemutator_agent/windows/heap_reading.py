"""Looks at the heap of each Go process that has run for long, one at a time, and tells the brain.

Each has its own place in the interval, so that readings are spread over it. A process that was not chosen
is never read. What fails is named in the reading, and never ends the others.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles.heap import Allocated
from nemutator_common.windows import HeapWindow, WindowReading
from nemutator_common.wire import Missing

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.windows.following import FollowedProcesses
from nemutator_agent.windows.heap_sites import (
    Addresses,
    EarlierHeap,
    Stacks,
    chosen,
    heap_window,
    remembered,
)
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.observed import (
    KnownProgram,
    NotReadError,
    ObservedProcess,
    RuntimeCounts,
    named_by_kernel,
    phase,
    window_process,
)
from nemutator_agent.windows.ports import (
    HeapSites,
    KernelCounters,
    RequestedSampling,
    WindowSink,
)
from nemutator_agent.windows.sent_symbols import SentSymbols

log = logging.getLogger(__name__)

CHECK_S = 5.0
"""Between two questions of who is due."""


RUNTIME_COUNTERS = ("goroutines", "gc_cycles", "gc_pause_share")
"""Fields of `WindowCounters` that Go's runtime keeps."""


@dataclass(slots=True)
class _Known:
    due: float
    """By the monotonic clock."""
    earlier: EarlierHeap = field(default_factory=EarlierHeap)


@dataclass(eq=False, slots=True)
class HeapReadings:
    """`run` is a task for a Supervisor."""

    followed: FollowedProcesses
    heaps: HeapSites
    requested: RequestedSampling
    counters: KernelCounters
    sink: WindowSink
    limit: WindowLimit
    symbols: SentSymbols
    process: Process
    turn: asyncio.Lock
    """One look at a time, whatever it looks at."""
    _: KW_ONLY
    node: str
    every_s: float
    _known: dict[ProcessId, _Known] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            async with self.turn:
                due = self._due()
                # Beside a profile that somebody has asked for, the process may be the same.
                if due is not None and not self.requested.is_wanted and self.limit.allows("heap"):
                    await self._take(due, self._known[due.id])
                    continue
            await self.process.clock.sleep(CHECK_S)

    def _due(self) -> ObservedProcess | None:
        """Whose turn it is, if it is anybody's."""
        now = self.process.clock.monotonic()
        found = {one.id: one for one in self.followed.now()}
        self._known = {
            identity: self._known.get(identity)
            or _Known(now + phase(self.node, identity) * self.every_s)
            for identity in found
        }
        first = min(self._known, key=lambda one: self._known[one].due, default=None)
        if first is None or self._known[first].due > now:
            return None
        return found[first]

    async def _take(self, observed: ObservedProcess, known: _Known) -> None:
        now = self.process.clock.monotonic()
        # A look that is late, because others took their time or the budget was spent, is not repeated.
        known.due += (int((now - known.due) / self.every_s) + 1) * self.every_s
        with self.limit.measured("heap"):
            result = await self._read(observed, known)
        self.process.meter.count(names.WINDOW_READINGS, window="heap", result=result)

    async def _read(self, observed: ObservedProcess, known: _Known) -> str:
        """The result, as the metric names it."""
        kept = EarlierHeap()

        def choose(stacks: Mapping[Addresses, Allocated]) -> Collection[Addresses]:
            nonlocal kept
            kept = remembered(stacks)
            return chosen(stacks, known.earlier)

        try:
            found = await self.heaps.read(observed, choose)
        except NotReadError as error:
            if error.reason != "gone":
                program = error.program or named_by_kernel(observed)
                self._put(observed, program, None, (error.missing,), error.counts)
            return error.reason
        except Exception as error:
            # A defect in one look may not end the agent's other work.
            log.exception("window_failed", {names.PID: observed.id.pid})
            why = f"a defect of nemutator ({type(error).__name__})"
            missing = Missing("heap", why, "the log of `nemutator-agent observe` has the details")
            self._put(observed, named_by_kernel(observed), None, (missing,), None)
            return "internal"
        known.earlier = kept
        window, stacks = heap_window(found)
        self._send_symbols(stacks)
        self._put(observed, found.program, window, (), found.counts)
        return "done"

    def _send_symbols(self, stacks: Stacks) -> None:
        now, dropped = self.process.clock.monotonic(), self.sink.dropped
        for record in self.symbols.missing(stacks, {}, now=now, dropped=dropped):
            self.sink.put(record)

    def _put(
        self,
        observed: ObservedProcess,
        program: KnownProgram,
        heap: HeapWindow | None,
        missing: tuple[Missing, ...],
        counts: RuntimeCounts | Missing | None,
    ) -> None:
        counters, more = self.counters.read(observed)
        at = self.process.clock.now()
        age_s = max(at - observed.started_at, 0.0)
        if isinstance(counts, RuntimeCounts):
            counters = replace(
                counters,
                goroutines=counts.goroutines,
                gc_cycles=counts.collections,
                gc_pause_share=min(counts.pause_s / age_s, 1.0) if age_s else None,
            )
        elif counts is not None:
            more = (*more, *(replace(counts, what=what) for what in RUNTIME_COUNTERS))
        self.sink.put(
            WindowReading(
                node=self.node,
                at=at,
                age_s=age_s,
                process=window_process(observed, program),
                window="heap",
                counters=counters,
                heap=heap,
                missing=(*missing, *more),
            )
        )
