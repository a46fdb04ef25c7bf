"""Quiet windows on the sample service: its leak, read from outside by the agent's own parts."""

import asyncio
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from nemutator_agent.app.cpu_windows import SampleNode
from nemutator_agent.profiler.targets import TargetSelection
from nemutator_common.windows import (
    CpuWindow,
    FunctionSymbol,
    SymbolFrame,
    WindowReading,
    WindowSymbols,
)

from tests.e2e.window_node import PATIENCE_S, Node, ticks_of
from tests.fakes.window_parts import ListSink

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


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


def ids_of(window: CpuWindow) -> set[str]:
    return {one.function for one in window.functions}


async def test_where_the_sample_spends_its_time_is_seen_unasked(shop: int) -> None:
    node = Node(shop)

    def own_function() -> FunctionSymbol | None:
        functions = (one for record in symbols_of(node.sink) for one in record.functions)
        return next((one for one in functions if one.function.startswith("main.")), None)

    await node.until(own_function, node.cpu_readings(seconds=5.0, every_s=10.0).run())
    main = own_function()
    assert main is not None
    assert main.file.endswith("main.go")
    assert main.line
    reading = next(one for one in node.sink.readings if one.cpu and main.id in ids_of(one.cpu))
    assert reading.cpu is not None
    own = sum(one.own for one in reading.cpu.functions) + reading.cpu.rest_own
    assert own == reading.cpu.samples > 0
    # By the same image as its heap has, or they would be two programs.
    await node.until(
        lambda: [one for one in node.sink.readings if one.heap],
        node.heap_readings(every_s=2.0).run(),
    )
    heap = next(one for one in node.sink.readings if one.heap)
    assert (reading.process.program, reading.process.image) == ("shop", heap.process.image)


async def test_a_profile_that_is_asked_for_ends_a_window(shop: int) -> None:
    node = Node(shop)
    sampling = await SampleNode(node.turns, node.symbols, node.heaps, ticks_of).begin([], hz=49)
    assert sampling is not None
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(
            node.turns.start(TargetSelection("process", shop), hz=99, texts={})
        )
        await sampling.until_wanted()
        samples = await sampling.end([])
        await (await asked).discard()
    assert samples.lost_share < 0.5


async def test_the_leak_of_the_sample_is_read_with_its_line(shop: int) -> None:
    node = Node(shop)
    sink = node.sink

    def largest() -> tuple[SymbolFrame, ...]:
        """The frames of the site that has most in use."""
        if growth(sink.readings) < 1 << 20 or (heap := sink.readings[-1].heap) is None:
            return ()
        frames = {site.id: site.frames for one in symbols_of(sink) for site in one.sites}
        return frames[heap.sites[0].site]

    def leaks() -> bool:
        # What requests use for a moment may be more at first.
        return any(one.function == "main.(*sessions).remember" for one in largest()[:1])

    await node.until(leaks, node.heap_readings(every_s=2.0).run())
    last, leak = sink.readings[-1], largest()
    assert leak[0].file.endswith("main.go")
    line = (ROOT / "deploy" / "sample" / "main.go").read_text().splitlines()[leak[0].line - 1]
    assert "make([]byte, leakBytes)" in line
    assert (last.process.program, len(last.process.image)) == ("shop", 40)
    assert last.process.go_version.startswith("go1.")
    assert last.counters.rss_anon_bytes
    assert not [one for one in last.missing if one.what == "heap"]
