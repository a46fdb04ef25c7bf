"""Where a real program of Go waits in the kernel, with names, for as long as the test keeps it waiting."""

import asyncio
import time
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.off_cpu_sampling import OffCpuSampler
from nemutator_agent.profiler.raw import NANOSECONDS, RawProfile
from nemutator_agent.profiler.symbols.blocked_profile import IDLE
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.targets import TargetSelection
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Weighed, functions

from tests.contract.profiler.test_off_cpu import HELD_S, hold, until_reading, waits_of
from tests.e2e.go_kinds import PATIENCE_S, running
from tests.fakes.process import fake_process
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e


async def named(raw: RawProfile, symboliser: WorkerSymboliser) -> Weighed:
    content, notes = await symboliser.symbolise(raw)
    print(notes)
    return pprof.decode_off_cpu(content)


async def test_what_a_goroutine_waits_for_is_named_and_idle_threads_are_left_out(
    tmp_path: Path,
) -> None:
    worker = symbol_worker()
    symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process())
    with running("syscalls", tmp_path) as program:
        try:
            text = await symboliser.range_of(program.pid)
            assert text is not None
            started = time.time()
            sampling = await OffCpuSampler().start(
                TargetSelection("process", program.pid), hz=0, texts={program.pid: text}
            )
            # It reads a line, answers, and waits for the next one, which does not come.
            program.begin()
            await asyncio.to_thread(until_reading, program.pid)
            await asyncio.to_thread(hold)
            before = waits_of(program.pid)
            until(lambda: waits_of(program.pid) > before, "a thread waits", within_s=PATIENCE_S)
            samples = await sampling.stop()
            assert samples.lost == {}
            raw = RawProfile(NANOSECONDS, started, 1.0, samples.rows, samples.recorded, {}, None)
            waits = await named(raw, symboliser)
            program.end()
        finally:
            worker.stop()
    found = {one.function: one.cumulative for one in functions(waits)}
    print(sorted(found.items(), key=lambda one: -one[1])[:12])
    assert found["os.(*File).Read"] >= HELD_S * NANOSECONDS
    assert found["main.main"] >= found["os.(*File).Read"]
    assert any("pipe" in name for name in found)
    assert IDLE.isdisjoint(found)
    assert "had no goroutine to run are left out" in waits.notes[0]
