import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby

import pytest
from nemutator_agent.windows.budget import WindowBudget
from nemutator_agent.windows.following import FollowedProcesses
from nemutator_agent.windows.heap_reading import CHECK_S, HeapReadings
from nemutator_agent.windows.limiting import WindowLimit
from nemutator_agent.windows.observed import KnownProgram, NotReadError
from nemutator_agent.windows.sent_symbols import SentSymbols
from nemutator_common import names
from nemutator_common.profiles.heap import Allocated
from nemutator_common.windows import WindowReading, WindowSymbols
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
    MemorySites,
    in_use,
    not_read,
    observed,
)


class Node:
    def __init__(self, *, processes: int = 100) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.processes, self.sites = MemoryProcesses(), MemorySites()
        self.pods, self.sink, self.costs = ListedPods(), ListSink(), CountedCosts()
        process = fake_process(clock=self.clock, meter=self.meter)
        limit = WindowLimit(WindowBudget(0.02, 100 << 20), self.costs, self.sink, process, node="n")
        followed = FollowedProcesses(self.processes, self.pods, process, age_s=3600, most=processes)
        self.sampler, self.turn = MemoryCpuSampler(), asyncio.Lock()
        self.readings = HeapReadings(
            followed,
            self.sites,
            self.sampler,
            FixedCounters(),
            self.sink,
            limit,
            SentSymbols("n"),
            process,
            self.turn,
            node="n",
            every_s=600,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.readings.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()

    async def pass_(self, seconds: float) -> None:
        for _ in range(int(seconds / CHECK_S)):
            await self.clock.advance(CHECK_S)

    def value(self, state: str) -> float:
        return self.meter.value(names.WINDOW_PROCESSES, state=state)


async def test_each_old_go_process_is_looked_at_once_in_each_interval() -> None:
    node = Node()
    node.processes.found = [observed(pid) for pid in range(1, 21)]
    async with node.running():
        await node.pass_(1_200)
    assert sorted(node.sites.read_pids) == sorted([*range(1, 21)] * 2)
    assert node.sites.read_pids[:20] != sorted(node.sites.read_pids[:20])
    assert node.meter.value(names.WINDOW_READINGS, window="heap", result="done") == 40


async def test_a_reading_says_whose_it_is_and_its_symbols_come_first() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    node.sites.heaps[7] = {(1,): in_use(100), (2,): in_use(0)}
    async with node.running():
        await node.pass_(1_200)
    symbols, first, second = node.sink.records
    assert isinstance(symbols, WindowSymbols)
    assert isinstance(first, WindowReading)
    assert isinstance(second, WindowReading)
    assert first.process.program == "shop"
    assert first.process.image == "ab12"
    assert first.heap is not None
    assert [one.in_use_bytes for one in first.heap.sites] == [100]
    assert symbols.sites[0].id == first.heap.sites[0].site
    assert first.heap.rest_sites == 1
    assert first.counters.threads == 9
    assert (first.counters.goroutines, first.counters.gc_cycles) == (12, 34)
    assert first.counters.gc_pause_share == pytest.approx(40 / first.age_s)
    assert [one.what for one in first.missing] == ["open_files"]
    assert first.age_s == pytest.approx(4_000 + first.at - 1_700_000_000)


async def test_what_grows_is_told_beside_what_is_large() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    large: dict[tuple[int, ...], Allocated] = {
        (number,): in_use(1_000 + number) for number in range(64)
    }
    node.sites.heaps[7] = {**large, (100,): in_use(10), (101,): in_use(10)}
    async with node.running():
        await node.pass_(600)
        node.sites.heaps[7] = {**large, (100,): in_use(500), (101,): in_use(10)}
        await node.pass_(600)
    before, after = (one.heap for one in node.sink.readings)
    assert before is not None
    assert after is not None
    assert len(before.sites) == 66
    assert len(after.sites) == 65
    assert after.sites[-1].in_use_bytes == 500


@pytest.mark.parametrize(
    ("state", "process"),
    [
        ("not_go", observed(7, is_go=False)),
        ("young", observed(7, age_s=3_599)),
        ("not_chosen", observed(7, pod_uid="u")),
    ],
)
async def test_others_are_not_read_and_counted(state: str, process: object) -> None:
    node = Node()
    node.processes.found = [process]  # type: ignore[list-item]
    async with node.running():
        await node.pass_(1_200)
        assert node.value(state) == 1
        assert node.value("followed") == 0
    assert not node.sites.read_pids
    assert not node.sink.records


async def test_a_pod_that_opts_out_is_not_read_any_more() -> None:
    node = Node()
    node.pods.uids.add("u")
    node.processes.found = [observed(7, pod_uid="u")]
    async with node.running():
        await node.pass_(600)
        node.pods.uids.clear()
        await node.pass_(6_000)
    assert node.sites.read_pids == [7]


async def test_the_oldest_come_first_where_there_are_too_many() -> None:
    node = Node(processes=2)
    node.processes.found = [observed(pid, age_s=10_000 + pid) for pid in (1, 2, 3)]
    async with node.running():
        await node.pass_(600)
        assert node.value("over_cap") == 1
    assert sorted(node.sites.read_pids) == [2, 3]


async def test_a_failed_look_names_what_is_missing_and_the_next_one_comes() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    node.sites.heaps[7] = not_read("heap")
    async with node.running():
        await node.pass_(600)
        node.sites.heaps[7] = {(1,): in_use(1)}
        await node.pass_(600)
    failed, done = node.sink.readings
    assert failed.heap is None
    assert (failed.process.image, failed.process.program) == ("", "shop")
    assert [one.what for one in failed.missing] == ["heap", "open_files"]
    assert done.heap is not None
    assert node.meter.value(names.WINDOW_READINGS, window="heap", result="heap") == 1


async def test_a_program_without_a_heap_profile_is_known_by_its_image() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    missing = Missing("heap", "it records no allocations", "import runtime/pprof")
    node.sites.heaps[7] = NotReadError("heap", missing, KnownProgram("shop", "go1.26.8", "ab12"))
    async with node.running():
        await node.pass_(600)
    (failed,) = node.sink.readings
    assert (failed.heap, failed.process.image) == (None, "ab12")


async def test_counts_that_cannot_be_read_are_named_one_by_one() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    node.sites.counts = Missing("", "it is not known where", "report this")
    async with node.running():
        await node.pass_(600)
    (reading,) = node.sink.readings
    assert reading.counters.goroutines is None
    assert [one.what for one in reading.missing] == [
        "open_files",
        "goroutines",
        "gc_cycles",
        "gc_pause_share",
    ]


async def test_no_heap_is_read_beside_a_profile_that_somebody_has_asked_for() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    node.sampler.wanted.set()
    async with node.running():
        await node.pass_(600)
        assert not node.sites.read_pids
        node.sampler.wanted.clear()
        await node.pass_(CHECK_S)
    assert node.sites.read_pids == [7]


async def test_looks_take_turns() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    async with node.running():
        await node.turn.acquire()
        await node.pass_(600)
        assert not node.sites.read_pids
        node.processes.found = []
        node.turn.release()
        await node.pass_(CHECK_S)
    # It has ended while another look was taken.
    assert not node.sites.read_pids


async def test_a_process_that_has_ended_is_no_reading() -> None:
    node = Node()
    node.processes.found = [observed(7)]
    node.sites.heaps[7] = not_read("gone")
    async with node.running():
        await node.pass_(600)
    assert not node.sink.records


async def test_a_defect_ends_one_look_alone() -> None:
    node = Node()
    node.processes.found = [observed(7), observed(8)]
    node.sites.heaps[7] = ValueError("a defect")
    async with node.running():
        await node.pass_(600)
    assert sorted(node.sites.read_pids) == [7, 8]
    assert node.meter.value(names.WINDOW_READINGS, window="heap", result="internal") == 1
    assert {one.missing[0].why for one in node.sink.readings} == {
        "a defect of nemutator (ValueError)",
        "hidden",
    }


async def test_looks_stop_when_the_budget_is_spent_and_late_ones_are_left_out() -> None:
    node = Node()
    node.processes.found = [observed(7)]

    def spend() -> None:
        node.costs.spent_s += 40.0

    node.sites.reading = spend
    async with node.running():
        await node.pass_(3_600)
    # 2 % of an hour are 72 s: there is credit for a second look once the first is paid.
    assert node.sites.read_pids == [7, 7]
    # One that goes on is told again.
    told = [is_paused for is_paused, _ in groupby(one.paused for one in node.sink.pauses)]
    assert told == [True, False, True]


async def test_what_has_ended_is_not_looked_at() -> None:
    node = Node()
    node.processes.found = [observed(pid) for pid in range(1, 50)]
    async with node.running():
        await node.pass_(600)
        node.processes.found = []
        await node.pass_(1_200)
        assert node.value("followed") == 0
    assert len(node.sites.read_pids) == 49
