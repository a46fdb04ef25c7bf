"""Profiles of a process, one after another, as `observe` makes them, for as long as something else is measured."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator

from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.wire import ProfileTarget

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

HZ = 99
SESSION_S = 2.0


@contextlib.contextmanager
def profiled(pid: int) -> Iterator[list[int]]:
    """How many samples each profile had that has ended, for as long as the block lasts."""
    ended, recorded, failed = threading.Event(), list[int](), list[BaseException]()

    def run() -> None:
        try:
            asyncio.run(_profiles(pid, ended, recorded))
        except Exception as error:  # noqa: BLE001
            # Told to who measures, below.
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield recorded
    finally:
        ended.set()
        thread.join()
    if failed:
        raise failed[0]


async def _profiles(pid: int, ended: threading.Event, recorded: list[int]) -> None:
    worker = symbol_worker()
    try:
        symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process(meter=MemoryMeter()))
        resolved = await MachineTargets(KnownGroups()).resolve(ProfileTarget("pid", str(pid)))
        while not ended.is_set():
            sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
            begun = time.monotonic()
            await asyncio.to_thread(ended.wait, SESSION_S)
            samples = await sampling.stop()
            seconds = time.monotonic() - begun
            raw = RawProfile(
                HZ, time.time(), seconds, samples.rows, samples.recorded, samples.lost, None
            )
            await symboliser.symbolise(raw)
            recorded.append(samples.recorded)
    finally:
        worker.stop()
