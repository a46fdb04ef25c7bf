import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.cpu_reading import SAMPLE_S, CpuBounds, CpuReadings
from nemutator_agent.windows.following import FollowedProcesses
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.observed import node_phase
from nemutator_agent.windows.sent_symbols import SentSymbols
from nemutator_common import names
from nemutator_common.windows import SymbolFrame, WindowReading, WindowSymbols, function_id
from nemutator_common.wire import Missing

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.window_parts import (
    CountedCosts,
    FixedCounters,
    ListedPods,
    ListSink,
    MemoryCpuSampler,
    MemoryProcesses,
    not_read,
    observed,
)

EVERY_S = 600.0
STEP_S = 5.0
WORK = SymbolFrame("main.work", "main.go", 10)


class Node:
    def __init__(self) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.processes, self.sampler = MemoryProcesses([observed(7)]), MemoryCpuSampler()
        self.pods, self.sink, self.costs = ListedPods(), ListSink(), CountedCosts()
        process = fake_process(clock=self.clock, meter=self.meter)
        self.turn = asyncio.Lock()
        self.readings = CpuReadings(
            FollowedProcesses(self.processes, self.pods, process, age_s=3600, most=100),
            self.sampler,
            FixedCounters(),
            self.sink,
            WindowLimit(WindowBudget(0.02, 100 << 20), self.costs, self.sink, process, node="n"),
            SentSymbols("n"),
            process,
            self.turn,
            node="n",
            bounds=CpuBounds(seconds=30.0, every_s=EVERY_S, hz=49),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.readings.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()

    async def pass_(self, seconds: float) -> None:
        for _ in range(int(seconds / STEP_S)):
            await self.clock.advance(STEP_S)

    async def until_window(self) -> None:
        """The next one has begun."""
        before = len(self.sampler.begun)
        while len(self.sampler.begun) == before:
            await self.pass_(STEP_S)

    def results(self, result: str) -> float:
        return self.meter.value(names.WINDOW_READINGS, window="cpu", result=result)


async def test_one_window_serves_all_processes_of_the_node() -> None:
    node = Node()
    node.processes.found = [observed(pid) for pid in (7, 8, 9)]
    node.sampler.stacks[7] = [((WORK,), 12)]
    async with node.running():
        await node.pass_(2 * EVERY_S + 30)
    assert [(sorted(pids), hz) for pids, hz in node.sampler.begun] == [([7, 8, 9], 49)] * 2
    assert node.results("done") == 6
    of_seven = [one for one in node.sink.readings if one.process.pid == 7]
    assert all(one.window == "cpu" and one.heap is None for one in of_seven)
    first = of_seven[0]
    assert first.cpu is not None
    assert (first.cpu.seconds, first.cpu.samples, first.cpu.lost_share) == (30.0, 12, 0.1)
    assert (first.process.program, first.process.image) == ("shop", "ab12")
    assert first.counters.threads == 9
    idle = next(one for one in node.sink.readings if one.process.pid == 8)
    assert idle.cpu is not None
    assert (idle.cpu.samples, idle.cpu.functions) == (0, ())


async def test_symbols_come_first_and_once() -> None:
    node = Node()
    node.sampler.stacks[7] = [((WORK,), 12)]
    async with node.running():
        await node.pass_(2 * EVERY_S + 30)
    symbols, *readings = node.sink.records
    assert isinstance(symbols, WindowSymbols)
    assert [one.id for one in symbols.functions] == [function_id("main.work", "main.go")]
    assert all(isinstance(one, WindowReading) for one in readings)
    assert len(readings) == 2


async def test_each_node_has_its_place_in_the_interval() -> None:
    node = Node()
    async with node.running():
        await node.until_window()
        assert node.clock.monotonic() == pytest.approx(node_phase("n") * EVERY_S, abs=2 * STEP_S)


async def test_a_person_who_asks_for_a_profile_has_the_sampler_at_once() -> None:
    node = Node()
    node.sampler.stacks[7] = [((WORK,), 12)]
    async with node.running():
        await node.until_window()
        await node.pass_(10)
        node.sampler.wanted.set()
        await node.clock.advance(0)
        assert node.sampler.samplings[0].ended
        await node.pass_(EVERY_S)
        assert len(node.sampler.begun) == 1
        node.sampler.wanted.clear()
        await node.pass_(2 * STEP_S)
        assert len(node.sampler.begun) == 2
    # The one that was cut short says how long it was.
    (cut,) = node.sink.readings
    assert cut.cpu is not None
    assert 10 <= cut.cpu.seconds < 30


async def test_a_window_that_was_cut_at_its_beginning_tells_nothing() -> None:
    node = Node()
    async with node.running():
        await node.until_window()
        node.sampler.wanted.set()
        await node.clock.advance(0)
    assert node.sampler.samplings[0].ended
    assert not node.sink.records
    assert node.results("yielded") == 1


async def test_who_opts_out_or_ends_in_mid_window_is_left_alone() -> None:
    node = Node()
    node.pods.uids = {"u"}
    node.processes.found = [observed(7, pod_uid="u"), observed(8), observed(9)]
    node.sampler.stacks[9] = None
    async with node.running():
        await node.until_window()
        node.pods.uids.clear()
        await node.pass_(60)
    assert [one.process.pid for one in node.sink.readings] == [8]
    assert node.results("gone") == 1


async def test_what_has_no_names_says_why() -> None:
    node = Node()
    node.sampler.stacks[7] = Missing("cpu", "its tables are damaged", "build it anew")
    async with node.running():
        await node.until_window()
        await node.pass_(60)
    (reading,) = node.sink.readings
    assert reading.cpu is None
    assert [one.what for one in reading.missing] == ["cpu", "open_files"]
    assert node.results("symbols") == 1


async def test_a_kernel_that_refuses_is_told_and_asked_again() -> None:
    node = Node()
    node.sampler.refusal = not_read("rights")
    async with node.running():
        await node.pass_(3 * EVERY_S)
        # They are as far apart as the brain may have to wait to be told again.
        assert len(node.sink.pauses) == 3
        pause = node.sink.pauses[0]
        assert (pause.paused, pause.reason, pause.why) == (True, "sampling", "it is rights")
        assert node.meter.value(names.WINDOWS_STOPPED, reason="sampling") == 1
        node.sampler.refusal = None
        await node.until_window()
        await node.pass_(60)
    told = [(one.paused, one.reason) for one in node.sink.pauses]
    assert told == [*[(True, "sampling")] * 3, (False, "sampling")]
    assert node.meter.value(names.WINDOWS_STOPPED, reason="sampling") == 0
    assert node.results("rights") == 3
    assert node.results("done") == 1


async def test_a_defect_ends_one_window_alone() -> None:
    node = Node()

    def fail() -> None:
        raise ValueError("a defect")

    node.sampler.ending = fail
    async with node.running():
        await node.until_window()
        await node.pass_(60)
        node.sampler.ending = lambda: None
        await node.pass_(EVERY_S)
    assert node.results("internal") == 1
    assert node.results("done") == 1
    assert all(one.ended for one in node.sampler.samplings)


async def test_without_processes_nothing_is_sampled() -> None:
    node = Node()
    node.processes.found = [observed(7, age_s=60)]
    async with node.running():
        await node.pass_(2 * EVERY_S)
    assert not node.sampler.begun


async def test_the_kernels_own_time_is_in_the_budget_and_the_wait_is_not() -> None:
    node = Node()
    async with node.running():
        await node.until_window()
        node.costs.spent_s += 20.0
        await node.pass_(EVERY_S)
    assert node.meter.value(names.WINDOW_CPU_SECONDS) == pytest.approx(100 * SAMPLE_S)
    assert not node.sink.pauses


async def test_a_window_waits_until_its_budget_is_there() -> None:
    node = Node()

    def spend() -> None:
        node.costs.spent_s += 13.0

    node.sampler.ending = spend
    async with node.running():
        await node.pass_(3 * EVERY_S)
    # 2 % of ten minutes are 12 s.
    assert len(node.sampler.begun) == 2
    assert [one.paused for one in node.sink.pauses][:2] == [True, False]


async def test_other_looks_come_to_their_end_first() -> None:
    node = Node()
    async with node.running():
        await node.turn.acquire()
        await node.pass_(EVERY_S)
        assert not node.sampler.begun
        node.turn.release()
        await node.until_window()
        assert node.turn.locked()
