"""The agent's own parts that look at old processes unasked, in this process."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path

from nemutator_agent.app.cpu_windows import SampleNode
from nemutator_agent.app.windows import OwnCosts, ReadHeapSites
from nemutator_agent.app.workers import heap_worker, symbol_worker
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.profiler.heap.proc_mem import ProcMem
from nemutator_agent.profiler.heap.reading import HeapReader
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.turn_taking import SamplingTurns
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.cpu_reading import CpuBounds, CpuReadings
from nemutator_agent.windows.following import FollowedProcesses
from nemutator_agent.windows.heap_reading import HeapReadings
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.proc_counters import ProcCounters
from nemutator_agent.windows.sent_symbols import SentSymbols
from nemutator_common.system_clock import SystemClock

from tests.fakes.process import fake_process
from tests.fakes.window_parts import ListedPods, ListSink, MemoryProcesses, observed

PATIENCE_S = 120.0


def ticks_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


class Node:
    """The agent's own parts, in this process."""

    def __init__(self, *pids: int) -> None:
        files, symbol, heap = ProcMaps(), symbol_worker(), heap_worker()
        self.process = fake_process(clock=SystemClock())
        self.symbols = WorkerSymboliser(files, symbol, self.process)
        self.heaps = HeapReader(files, ProcMem(), heap, self.symbols, self.process)
        self.turns = SamplingTurns(KernelSampler())
        self.sink, self.sent, self.turn = ListSink(), SentSymbols("n"), asyncio.Lock()
        self.costs, budget = OwnCosts((symbol, heap)), WindowBudget(1.0, 4 << 30)
        self.limit = WindowLimit(budget, self.costs, self.sink, self.process, node="n")
        self.processes = MemoryProcesses(
            [replace(observed(pid), id=ProcessId(pid, ticks_of(pid) or 0)) for pid in pids]
        )
        self.followed = FollowedProcesses(
            self.processes, ListedPods(), self.process, age_s=60.0, most=max(len(pids), 10)
        )

    def heap_readings(self, *, every_s: float) -> HeapReadings:
        return HeapReadings(
            self.followed,
            ReadHeapSites(self.heaps, ticks_of),
            self.turns,
            ProcCounters(ticks_of),
            self.sink,
            self.limit,
            self.sent,
            self.process,
            self.turn,
            node="n",
            every_s=every_s,
        )

    def cpu_readings(self, *, seconds: float, every_s: float) -> CpuReadings:
        return CpuReadings(
            self.followed,
            SampleNode(self.turns, self.symbols, self.heaps, ticks_of),
            ProcCounters(ticks_of),
            self.sink,
            self.limit,
            self.sent,
            self.process,
            self.turn,
            node="n",
            bounds=CpuBounds(seconds=seconds, every_s=every_s, hz=99),
        )

    async def until(
        self,
        seen: Callable[[], object],
        task: Coroutine[None, None, None],
        *,
        within_s: float = PATIENCE_S,
    ) -> None:
        async with asyncio.timeout(within_s), asyncio.TaskGroup() as group:
            running = group.create_task(task)
            while not seen():
                await self.process.clock.sleep(0.1)
            running.cancel()
