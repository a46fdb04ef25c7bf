"""Looks at the heap of each Go process that has run for long, one at a time, and tells the brain.

Each has its own place in the interval, so that readings are spread over it. A process that was not chosen
is never read. What fails is named in the reading, and never ends the others.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles.heap import Allocated
from nemutator_common.windows import HeapWindow, WindowProcess, WindowReading
from nemutator_common.wire import Missing

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.windows.heap_sites import (
    Addresses,
    EarlierHeap,
    Stacks,
    chosen,
    heap_window,
    remembered,
)
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.observed import SKIPPED, NotReadError, ObservedProcess, Skipped, phase
from nemutator_agent.windows.ports import (
    ChosenPods,
    HeapSites,
    KernelCounters,
    ObservedProcesses,
    WindowSink,
)
from nemutator_agent.windows.sent_symbols import SentSymbols

log = logging.getLogger(__name__)

CHECK_S = 5.0
"""Between two questions of who is due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingBounds:
    age_s: float
    """Younger processes are left alone."""
    every_s: float
    processes: int
    """The most that are looked at; the oldest come first."""


@dataclass(slots=True)
class _Known:
    due: float
    """By the monotonic clock."""
    earlier: EarlierHeap = field(default_factory=EarlierHeap)


@dataclass(eq=False, slots=True)
class HeapReadings:
    """`run` is a task for a Supervisor."""

    processes: ObservedProcesses
    heaps: HeapSites
    counters: KernelCounters
    pods: ChosenPods
    sink: WindowSink
    limit: WindowLimit
    symbols: SentSymbols
    process: Process
    _: KW_ONLY
    node: str
    bounds: ReadingBounds
    _known: dict[ProcessId, _Known] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            due = self._due()
            if due is None or not self.limit.allows():
                await self.process.clock.sleep(CHECK_S)
            else:
                await self._take(due, self._known[due.id])

    def _due(self) -> ObservedProcess | None:
        """Whose turn it is, if it is anybody's."""
        now = self.process.clock.monotonic()
        found = {one.id: one for one in self._wanted()}
        self._known = {
            identity: self._known.get(identity)
            or _Known(now + phase(self.node, identity) * self.bounds.every_s)
            for identity in found
        }
        first = min(self._known, key=lambda one: self._known[one].due, default=None)
        if first is None or self._known[first].due > now:
            return None
        return found[first]

    def _wanted(self) -> list[ObservedProcess]:
        skipped: Counter[Skipped] = Counter()
        wanted: list[ObservedProcess] = []
        for one in sorted(self.processes.now(), key=lambda one: -one.age_s):
            if not one.is_go:
                skipped["not_go"] += 1
            elif one.age_s < self.bounds.age_s:
                skipped["young"] += 1
            elif not self.pods.allow(one):
                skipped["not_chosen"] += 1
            elif len(wanted) >= self.bounds.processes:
                skipped["over_cap"] += 1
            else:
                wanted.append(one)
        for reason in SKIPPED:
            self.process.meter.gauge(names.WINDOW_PROCESSES, skipped[reason], state=reason)
        self.process.meter.gauge(names.WINDOW_PROCESSES, len(wanted), state="followed")
        return wanted

    async def _take(self, observed: ObservedProcess, known: _Known) -> None:
        now = self.process.clock.monotonic()
        # A look that is late, because others took their time or the budget was spent, is not repeated.
        known.due += (int((now - known.due) / self.bounds.every_s) + 1) * self.bounds.every_s
        with self.limit.measured():
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
                of = _process(observed, observed.command, "", observed.version)
                self._put(observed, of, None, (error.missing,))
            return error.reason
        except Exception as error:
            # A defect in one look may not end the agent's other work.
            log.exception("window_failed", {names.PID: observed.id.pid})
            why = f"a defect of nemutator ({type(error).__name__})"
            missing = Missing("heap", why, "the log of `nemutator-agent observe` has the details")
            of = _process(observed, observed.command, "", observed.version)
            self._put(observed, of, None, (missing,))
            return "internal"
        known.earlier = kept
        window, stacks = heap_window(found)
        self._send_symbols(stacks)
        of = _process(observed, found.program, found.image, found.version)
        self._put(observed, of, window, ())
        return "done"

    def _send_symbols(self, stacks: Stacks) -> None:
        now, dropped = self.process.clock.monotonic(), self.sink.dropped
        for record in self.symbols.missing(stacks, {}, now=now, dropped=dropped):
            self.sink.put(record)

    def _put(
        self,
        observed: ObservedProcess,
        of: WindowProcess,
        heap: HeapWindow | None,
        missing: tuple[Missing, ...],
    ) -> None:
        counters, more = self.counters.read(observed)
        at = self.process.clock.now()
        self.sink.put(
            WindowReading(
                node=self.node,
                at=at,
                age_s=max(at - observed.started_at, 0.0),
                process=of,
                window="heap",
                counters=counters,
                heap=heap,
                missing=(*missing, *more),
            )
        )


def _process(observed: ObservedProcess, program: str, image: str, version: str) -> WindowProcess:
    return WindowProcess(
        pid=observed.id.pid,
        started_at=observed.started_at,
        program=program,
        image=image,
        go_version=version,
        group=observed.group,
        pod_uid=observed.pod_uid,
        container_id=observed.container_id,
    )
