"""The profiler of `nemutator-agent observe`, put together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nemutator_common.process import Process
from nemutator_common.shipping.brain_http import BrainOverHttp
from nemutator_common.shipping.links_over_http import ProfilesOverHttp

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import heap_worker, symbol_worker
from nemutator_agent.inspection.confined_worker import ConfinedWorker
from nemutator_agent.profiler.heap.proc_mem import ProcMem
from nemutator_agent.profiler.heap.reading import HeapReader
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.making import Bounds, ProfileMaking
from nemutator_agent.profiler.off_cpu_sampling import OffCpuSampler
from nemutator_agent.profiler.sessions import ProfileSessions
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.turn_taking import SamplingTurns
from nemutator_agent.settings.observe import ObserveSettings


@dataclass(frozen=True, slots=True)
class Profiler:
    """What others share of it."""

    turns: SamplingTurns
    symbols: WorkerSymboliser
    heaps: HeapReader
    workers: tuple[ConfinedWorker, ...]


@contextmanager
def profiling(
    process: Process, brain: BrainOverHttp, settings: ObserveSettings, *, node: str
) -> Iterator[Profiler]:
    """Add the profiler's tasks to *process*; nothing is loaded before the first request."""
    worker, heap = symbol_worker(), heap_worker()
    files = ProcMaps()
    symbols = WorkerSymboliser(files, worker, process)
    heaps = HeapReader(files, ProcMem(), heap, symbols, process)
    turns = SamplingTurns(KernelSampler(engine=settings.sampling_engine))
    making = ProfileMaking(
        MachineTargets(KnownGroups()),
        turns,
        OffCpuSampler(engine=settings.sampling_engine),
        symbols,
        symbols,
        heaps,
        process,
        node=node,
        bounds=Bounds(seconds=settings.profile_seconds, hz=settings.profile_hz),
    )
    link = ProfilesOverHttp(brain=brain, node=node)
    sessions = ProfileSessions(link, making, process, node=node)
    process.supervisor.add("report profiles", sessions.report)
    process.supervisor.add("make profiles", sessions.work)
    process.supervisor.add("ask for profiles", sessions.poll)
    try:
        yield Profiler(turns, symbols, heaps, (worker, heap))
    finally:
        worker.stop()
        heap.stop()
