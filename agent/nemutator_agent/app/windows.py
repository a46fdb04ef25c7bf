"""Quiet windows of `nemutator-agent observe`, put together."""

import asyncio
import resource
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.process import Process
from nemutator_common.profiles.model import Frame
from nemutator_common.shipping.brain_http import BrainOverHttp
from nemutator_common.shipping.links_over_http import StreamOverHttp, WindowPodsOverHttp
from nemutator_common.shipping.streams import window_stream
from nemutator_common.windows import DEEPEST, LONGEST_NAME, SymbolFrame
from nemutator_common.wire import Missing

from nemutator_agent.app.cpu_windows import (
    SampleNode,
    StartedTicks,
    cpu_bounds,
    known_program,
    program_of,
)
from nemutator_agent.app.profiling import Profiler
from nemutator_agent.inspection.confined_worker import ConfinedWorker
from nemutator_agent.inspection.detected_runtime import UNKNOWN
from nemutator_agent.inspection.executables import Executables
from nemutator_agent.profiler.heap.messages import CountAnswer
from nemutator_agent.profiler.heap.reading import HeapReader
from nemutator_agent.profiler.kernel_programs import sampling_engine
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_agent.usage.group_names import name_group
from nemutator_agent.usage.polling import UsagePoller
from nemutator_agent.usage.reports import LONGEST_PATH
from nemutator_agent.usage.text import clean
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.choosing import PodChoosing
from nemutator_agent.windows.cpu_reading import CpuReadings
from nemutator_agent.windows.following import FollowedProcesses
from nemutator_agent.windows.heap_reading import HeapReadings
from nemutator_agent.windows.heap_sites import Choose, SomeSites
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.observed import (
    KnownProgram,
    NotReadError,
    ObservedProcess,
    RuntimeCounts,
)
from nemutator_agent.windows.proc_counters import ProcCounters
from nemutator_agent.windows.sent_symbols import SentSymbols


def add_windows(
    process: Process,
    brain: BrainOverHttp,
    settings: ObserveSettings,
    *,
    node: str,
    processes: "SnapshotProcesses",
    profiler: Profiler,
    started_ticks: StartedTicks,
) -> None:
    """Add the tasks of windows to *process*."""
    sink = window_stream(
        process,
        StreamOverHttp(brain, "windows"),
        node=node,
        epoch=secrets.token_hex(16),
        call_s=settings.call_s,
    )
    pods: PodChoosing | OnlyOutsideOfPods = OnlyOutsideOfPods()
    if not settings.is_brain_local:
        pods = PodChoosing(WindowPodsOverHttp(brain=brain, node=node), process)
    budget = WindowBudget(settings.window_cpu_percent / 100, settings.window_memory_bytes)
    limit = WindowLimit(budget, OwnCosts(profiler.workers), sink, process, node=node)
    pace = settings.window_pace
    followed = FollowedProcesses(
        processes, pods, process, age_s=pace.age_s, most=settings.window_processes
    )
    counters, symbols, turn = ProcCounters(started_ticks), SentSymbols(node), asyncio.Lock()
    heaps = HeapReadings(
        followed,
        ReadHeapSites(profiler.heaps, started_ticks),
        profiler.turns,
        counters,
        sink,
        limit,
        symbols,
        process,
        turn,
        node=node,
        every_s=pace.every_s,
    )
    cpu = CpuReadings(
        followed,
        SampleNode(profiler.turns, profiler.symbols, profiler.heaps, started_ticks),
        counters,
        sink,
        limit,
        symbols,
        process,
        turn,
        node=node,
        bounds=cpu_bounds(settings),
    )
    process.supervisor.add("ship windows", sink.run)
    if isinstance(pods, PodChoosing):
        process.supervisor.add("choose pods", pods.run)
    process.supervisor.add("look at heaps", heaps.run)
    # bcc would compile for each window: that takes longer than the window's samples.
    if settings.window_hz and sampling_engine(settings.sampling_engine) == "libbpf":
        process.supervisor.add("take CPU windows", cpu.run)


@dataclass(frozen=True, slots=True)
class SnapshotProcesses:
    """The `ObservedProcesses` of the snapshots that reports are made of."""

    poller: UsagePoller
    executables: Executables

    def now(self) -> Sequence[ObservedProcess]:
        if self.poller.latest is None:
            return ()
        snapshot, facts = self.poller.latest
        runtimes = self.executables.runtimes
        found = []
        for identity, counters in snapshot.processes.items():
            detected = runtimes.get(identity, UNKNOWN)
            started_at = facts.booted_at + identity.started_ticks / facts.ticks_per_s
            naming, group = name_group(counters.path), snapshot.groups.get(counters.path)
            found.append(
                ObservedProcess(
                    id=identity,
                    is_go=detected.runtime == "go",
                    version=(detected.version or "")[:LONGEST_NAME],
                    command=clean(counters.command, longest=LONGEST_NAME),
                    started_at=started_at,
                    age_s=max(snapshot.at - started_at, 0.0),
                    group=clean(counters.path, longest=LONGEST_PATH),
                    pod_uid=naming.pod_uid,
                    container_id=naming.container_id,
                    threads=counters.threads,
                    cpu_seconds=counters.cpu_ticks / facts.ticks_per_s,
                    group_memory_bytes=group.memory_bytes if group else None,
                )
            )
        return found


@dataclass(frozen=True, slots=True)
class ReadHeapSites:
    """The `HeapSites` of the profiler's reader."""

    reader: HeapReader
    started_ticks: StartedTicks

    async def read(self, process: ObservedProcess, choose: Choose) -> SomeSites:
        def is_meant() -> bool:
            return self.started_ticks(process.id.pid) == process.id.started_ticks

        try:
            found = await self.reader.read_some(process.id.pid, choose, is_meant=is_meant)
        except ProfileRefused as refusal:
            shown = (clean(one, longest=500) for one in ("heap", refusal.what, refusal.remedy))
            known = await self._program(process) if refusal.reason != "gone" else (None, None)
            raise NotReadError(refusal.reason, Missing(*shown), *known) from refusal
        return SomeSites(
            program=KnownProgram(
                clean(found.program, longest=LONGEST_NAME),
                clean(found.version, longest=LONGEST_NAME),
                found.image,
            ),
            rate=found.rate,
            collection=found.collections if found.collections >= 0 else None,
            sites=tuple((stack, _shown(frames), of) for stack, frames, of in found.named),
            rest=found.rest,
            rest_sites=found.rest_sites,
            counts=_counts(found.counts),
        )

    async def _program(
        self, process: ObservedProcess
    ) -> tuple[KnownProgram | None, RuntimeCounts | Missing | None]:
        """One without a heap profile has the same image in its readings as in its CPU windows."""
        try:
            found = await program_of(self.reader, self.started_ticks, process.id, counted=True)
        except ProfileRefused:
            return None, None
        return known_program(found), _counts(found.counts) if found.counts else None


def _counts(answer: CountAnswer) -> RuntimeCounts | Missing:
    if answer.flaw:
        return Missing("", *_WHY_NOT_COUNTED[answer.flaw])
    return RuntimeCounts(answer.goroutines, answer.collections, answer.pauses_ns / 1e9)


_WHY_NOT_COUNTED = {
    "unknown": (
        "it is not known where the runtime of this program counts",
        "report this with its Go version and processor",
    ),
    "forged": ("what is there is none of the counts that Go makes", "do not trust this program"),
    "unreadable": ("the memory could not be read where they are", "it is tried again"),
    "too_much": ("they take too much to read", "use fewer processors (GOMAXPROCS)"),
}


def _shown(frames: Iterable[Frame]) -> tuple[SymbolFrame, ...]:
    return tuple(
        SymbolFrame(
            clean(one.function, longest=LONGEST_NAME),
            clean(one.file, longest=LONGEST_NAME),
            one.line,
        )
        for one in tuple(frames)[:DEEPEST]
    )


@dataclass(frozen=True, slots=True)
class OwnCosts:
    """The `Costs` of this process and of the workers that read for windows."""

    workers: tuple[ConfinedWorker, ...]

    def cpu_s(self) -> float:
        return time.process_time() + sum(worker.cpu_s for worker in self.workers)

    def memory_bytes(self) -> int:
        resident = Path("/proc/self/statm").read_bytes().split()[1]
        return int(resident) * resource.getpagesize()


class OnlyOutsideOfPods:
    """The `ChosenPods` of a machine of its own, where nobody knows what a pod declares."""

    def allow(self, process: ObservedProcess) -> bool:
        return process.pod_uid is None
