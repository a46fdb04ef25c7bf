"""Turns of threads from the kernel to a report: on a kernel that is not asked for real, and on this one."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nemutator_agent.app.run_queues import KernelRunQueues
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.run_queue_timing import SLOTS, GroupNumber, RunQueueTiming
from nemutator_agent.profiler.targets import CONTROLLERS
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_common import names
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire_activity import Activity

from tests.contract.profiler.busy import busy
from tests.e2e.control_groups import group_of, mounted
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

V2 = Hierarchy(2, frozenset(), "", "/")
V1 = Hierarchy(1, frozenset({"cpu", "cpuacct"}), "", "/")
SPINS = """
import os, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def spin():
    while True: os.sched_yield()
for _ in range(3): threading.Thread(target=spin).start()
"""
PATIENCE_S = 120.0


class FakeTiming(RunQueueTiming):
    """Of a kernel with room for two groups."""

    def __init__(self) -> None:
        self.groups: dict[GroupNumber, int] = {}
        self.lost = 0
        self.is_closed = False

    def add(self, group: GroupNumber) -> bool:
        if len(self.groups) >= 2:
            return False
        self.groups[group] = 0
        return True

    def remove(self, groups: Collection[GroupNumber]) -> None:
        for one in groups:
            self.groups.pop(one, None)

    def read(self, group: GroupNumber) -> tuple[int, tuple[int, ...]] | None:
        if group not in self.groups:
            return None
        return self.groups[group], (self.groups[group],) * SLOTS

    def untold(self) -> int:
        return self.lost

    def close(self) -> None:
        self.is_closed = True


@asynccontextmanager
async def timed(fake: FakeTiming, meter: MemoryMeter) -> AsyncIterator[KernelRunQueues]:
    async def start(**_: object) -> RunQueueTiming:
        return fake

    clock = ManualClock()
    queues = KernelRunQueues(fake_process(clock=clock, meter=meter), start)
    async with in_background(queues.run(), clock):
        yield queues
        await clock.advance(60.0)
        await clock.until_sleeping(1)
    assert fake.is_closed


async def test_a_group_is_timed_from_the_first_time_that_it_is_asked_for(tmp_path: Path) -> None:
    fake, meter = FakeTiming(), MemoryMeter()
    there = [tmp_path / name for name in ("one", "two", "three")]
    for one in there:
        one.mkdir()
    first, second, third = map(str, there)
    async with timed(fake, meter) as queues:
        begun = queues.delays(first, [V2])
        assert begun is not None
        assert (begun.waited_ns, set(begun.turns)) == (0, {0})
        number = GroupNumber(there[0].stat().st_ino, is_unified=True)
        fake.groups[number] = 7
        again = queues.delays(first, [V2])
        assert again is not None
        assert (again.waited_ns, set(again.turns)) == (7, {7})
        assert queues.delays(second, [V2]) is not None
        # There is no room for it until another one has gone.
        assert queues.delays(third, [V2]) is None
        assert queues.delays(f"{tmp_path}/gone", [V2]) is None
        queues.forget({first, third})
        assert queues.delays(third, [V2]) is not None
        fake.lost = 4
    assert queues.delays(first, [V2]) is None
    assert meter.total(names.RUN_QUEUE_TURNS_LOST, reason="threads") == 4


async def test_a_group_that_is_made_anew_begins_at_zero(tmp_path: Path) -> None:
    fake = FakeTiming()
    place = tmp_path / "one"
    place.mkdir()
    async with timed(fake, MemoryMeter()) as queues:
        assert queues.delays(str(place), [V2]) is not None
        before = GroupNumber(place.stat().st_ino, is_unified=True)
        fake.groups[before] = 9
        # So that the new one has another number.
        place.rename(tmp_path / "old")
        place.mkdir()
        begun = queues.delays(str(place), [V2])
        assert begun is not None
        assert begun.waited_ns == 0
        assert before not in fake.groups


async def test_where_the_kernel_refuses_it_the_report_says_so() -> None:
    asked = 0

    async def refuse(**_: object) -> RunQueueTiming:
        nonlocal asked
        asked += 1
        raise ProfileRefused("rights", "it lacks CAP_BPF", remedy="run it as root")

    clock = ManualClock()
    queues = KernelRunQueues(fake_process(clock=clock), refuse)
    assert queues.missing() == ()
    async with in_background(queues.run(), clock):
        (missing,) = queues.missing()
        assert missing.why == "it lacks CAP_BPF"
        assert missing.remedy == "run it as root, or set observe.run_queues to false"
        assert queues.delays("/group", [V2, V1]) is None
        await clock.advance(3600.0)
        await clock.until_sleeping(1)
    assert asked == 2


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("hierarchy", "mount"), [one for one in mounted() if one[0] in ("v2", CONTROLLERS[0])]
)
async def test_threads_that_compete_for_a_cpu_have_long_turns_in_a_report(
    hierarchy: str, mount: str
) -> None:
    clock = SystemClock()
    queues = KernelRunQueues(fake_process(clock=clock))
    reader = ProcfsReader(
        CachedFiles(most=4000), most_processes=9999, most_groups=3000, seldom_s=3.0, queues=queues
    )
    # As deep as this machine's own groups may be: the deepest one of a process is its workload.
    with busy(SPINS) as pid, group_of(mount, ("below", pid)) as path:
        found = await long_turns(queues, reader, f"{path}/below")
    reader.close()
    print(hierarchy, found)
    assert (found.run_delay or 0.0) > 0
    assert 0 < (found.run_delay_p99 or 0.0) < 10


async def long_turns(queues: KernelRunQueues, reader: ProcfsReader, path: str) -> Activity:
    clock = SystemClock()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(queues.run())
        while True:
            snapshot = reader.snapshot(at=clock.now(), monotonic=clock.monotonic())
            activity = snapshot.activities.get(path, Activity())
            if activity.run_delay_p99 is not None:
                running.cancel()
                return activity
            await clock.sleep(0.5)
