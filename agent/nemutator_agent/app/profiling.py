"""The profiler of `nemutator-agent observe`, put together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.shipping.brain_http import BrainOverHttp, ProfilesOverHttp
from nemutator_common.supervising import Supervisor

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.sessions import Bounds, ProfileSessions
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.settings import ObserveSettings


@contextmanager
def profiling(
    supervisor: Supervisor,
    brain: BrainOverHttp,
    settings: ObserveSettings,
    *,
    node: str,
    clock: Clock,
    meter: Meter,
    roll: Callable[[], float],
) -> Iterator[None]:
    """Add the profiler's tasks to *supervisor*; nothing is loaded before the first request."""
    worker = symbol_worker()
    symbols = WorkerSymboliser(ProcMaps(), worker, meter=meter)
    sessions = ProfileSessions(
        ProfilesOverHttp(brain=brain, node=node),
        MachineTargets(KnownGroups()),
        KernelSampler(),
        symbols,
        symbols,
        node=node,
        bounds=Bounds(seconds=settings.profile_seconds, hz=settings.profile_hz),
        clock=clock,
        meter=meter,
        roll=roll,
    )
    supervisor.add("tell of profiles", sessions.tell)
    supervisor.add("make profiles", sessions.work)
    supervisor.add("ask for profiles", sessions.ask)
    try:
        yield
    finally:
        worker.stop()
