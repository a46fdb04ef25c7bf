"""Quiet windows on the sample service: its leak, read from outside by the agent's own parts."""

import asyncio
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_agent.app.windows import OwnCosts, ReadHeapSites
from nemutator_agent.app.workers import heap_worker, symbol_worker
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.profiler.heap.proc_mem import ProcMem
from nemutator_agent.profiler.heap.reading import HeapReader
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.heap_reading import HeapReadings, ReadingBounds
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.proc_counters import ProcCounters
from nemutator_agent.windows.sent_symbols import SentSymbols
from nemutator_common.system_clock import SystemClock
from nemutator_common.windows import WindowReading, WindowSymbols

from tests.fakes.process import fake_process
from tests.fakes.window_parts import ListedPods, ListSink, MemoryProcesses, observed

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0


def ticks_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


@pytest.fixture
def shop() -> Iterator[int]:
    command = [str(ROOT / "scripts" / "sample"), "--path"]
    path = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    with subprocess.Popen([ROOT / path.strip(), "--lifeline"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def growth(readings: Sequence[WindowReading]) -> int:
    sizes = [one.heap.sites[0].in_use_bytes for one in readings if one.heap and one.heap.sites]
    return sizes[-1] - sizes[0] if sizes else 0


def symbols_of(sink: ListSink) -> list[WindowSymbols]:
    return [one for one in sink.records if isinstance(one, WindowSymbols)]


async def test_the_leak_of_the_sample_is_read_with_its_line(shop: int) -> None:
    files, symbols, heaps = ProcMaps(), symbol_worker(), heap_worker()
    process = fake_process(clock=SystemClock())
    reader = HeapReader(files, ProcMem(), heaps, WorkerSymboliser(files, symbols, process), process)
    costs, sink = OwnCosts((symbols, heaps)), ListSink()
    found = replace(observed(shop), id=ProcessId(shop, ticks_of(shop) or 0))
    readings = HeapReadings(
        MemoryProcesses([found]),
        ReadHeapSites(reader, ticks_of),
        ProcCounters(ticks_of),
        ListedPods(),
        sink,
        WindowLimit(WindowBudget(1.0, 4 << 30), costs, sink, process, node="n"),
        SentSymbols("n"),
        process,
        node="n",
        bounds=ReadingBounds(age_s=60.0, every_s=2.0, processes=10),
    )

    async def until_it_grows() -> None:
        while growth(sink.readings) < 1 << 20:
            await process.clock.sleep(0.1)

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        task = group.create_task(readings.run())
        await until_it_grows()
        task.cancel()
    last = sink.readings[-1]
    assert last.heap is not None
    frames = {site.id: site.frames for one in symbols_of(sink) for site in one.sites}
    leak = frames[last.heap.sites[0].site]
    assert leak[0].function == "main.(*sessions).remember"
    assert leak[0].file.endswith("main.go")
    line = (ROOT / "deploy" / "sample" / "main.go").read_text().splitlines()[leak[0].line - 1]
    assert "make([]byte, leakBytes)" in line
    assert (last.process.program, len(last.process.image)) == ("shop", 40)
    assert last.process.go_version.startswith("go1.")
    assert last.counters.rss_anon_bytes
    assert not [one for one in last.missing if one.what == "heap"]
