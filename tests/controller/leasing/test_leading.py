import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.supervising import HungTasksError
from nemutator_controller.leasing.election import DEADLINE_S, LEASE_S, RENEW_S, WATCH_S, Election
from nemutator_controller.leasing.leading import CHECK_S, PART, STOP_S, Leading

from tests.fakes.clocks import ManualClock
from tests.fakes.leases import MemoryLease
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


@dataclass
class Brain:
    """One of several, and who of them does the work now."""

    name: str
    lease: MemoryLease
    clock: ManualClock
    working: list[str]
    process: Process = field(init=False)
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    leading: Leading = field(init=False)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.process = fake_process(clock=self.clock, meter=self.meter)
        self.leading = Leading(Election(self.name), self.lease, self.process)

    async def work(self) -> None:
        self.working.append(self.name)
        try:
            await asyncio.Event().wait()
        finally:
            self.working.remove(self.name)

    def start(self, group: asyncio.TaskGroup) -> None:
        leading = self.leading
        bodies = {"work": self.work}
        for run in (leading.elect, leading.watch, lambda: leading.lead(lambda: bodies)):
            self.tasks.append(group.create_task(run()))

    async def stop(self) -> None:
        """As a supervisor does it."""
        for task in reversed(self.tasks):
            task.cancel()
            await asyncio.wait([task])
        self.tasks.clear()


@dataclass
class Brains:
    group: asyncio.TaskGroup
    lease: MemoryLease = field(default_factory=MemoryLease)
    clock: ManualClock = field(default_factory=ManualClock)
    working: list[str] = field(default_factory=list)
    all: list[Brain] = field(default_factory=list)

    def start(self, name: str) -> Brain:
        brain = Brain(name, self.lease, self.clock, self.working)
        self.all.append(brain)
        brain.start(self.group)
        return brain


@pytest.fixture
async def brains() -> AsyncIterator[Brains]:
    async with asyncio.TaskGroup() as group:
        brains = Brains(group)
        yield brains
        for brain in brains.all:
            brain.lease = MemoryLease(is_away=True)
            await brain.stop()


async def test_one_of_two_leads_and_says_so(brains: Brains) -> None:
    first = brains.start("a")
    await brains.clock.advance(CHECK_S)
    second = brains.start("b")
    await brains.clock.advance(60.0)
    assert brains.working == ["a"]
    assert first.leading.now()
    assert not second.leading.now()
    assert first.meter.value(names.BRAIN_LEADS) == 1
    assert second.meter.value(names.BRAIN_LEADS) == 0
    assert first.process.readiness.notes()[PART] == "this brain leads"
    assert second.process.readiness.notes()[PART] == "a leads"


async def test_a_brain_that_stops_lets_the_other_one_begin_at_its_next_try(brains: Brains) -> None:
    first = brains.start("a")
    await brains.clock.advance(CHECK_S)
    brains.start("b")
    await brains.clock.advance(RENEW_S)
    await first.stop()
    assert brains.working == []
    await brains.clock.advance(RENEW_S + CHECK_S)
    assert brains.working == ["b"]


@pytest.mark.parametrize("trouble", ["is_away", "hangs"])
async def test_the_holder_stops_before_another_one_may_begin(brains: Brains, trouble: str) -> None:
    brains.start("a")
    await brains.clock.advance(CHECK_S)
    other = brains.start("b")
    await brains.clock.advance(RENEW_S)
    # Only the holder cannot reach it any more.
    cut_off = MemoryLease(is_away=trouble == "is_away", hangs=trouble == "hangs")
    brains.all[0].leading.store = cut_off
    await brains.clock.advance(DEADLINE_S + CHECK_S)
    assert brains.working == []
    assert not other.leading.now()
    await brains.clock.advance(LEASE_S - DEADLINE_S + RENEW_S)
    assert brains.working == ["b"]


@pytest.mark.parametrize("since_renewal_s", [0.0, 0.7, RENEW_S - 0.1])
async def test_work_of_a_brain_that_dies_goes_on_within_its_time_at_whatever_moment(
    brains: Brains, since_renewal_s: float
) -> None:
    first = brains.start("a")
    await brains.clock.advance(CHECK_S)
    brains.start("b")
    await brains.clock.advance(60.0)
    renewed = brains.lease.kept
    while brains.lease.kept == renewed:
        await brains.clock.advance(0.1)
    await brains.clock.advance(since_renewal_s)
    # A killed process gives nothing back.
    first.leading.store = MemoryLease(is_away=True)
    await first.stop()
    waited_s = 0.0
    while brains.working != ["b"]:
        await brains.clock.advance(0.1)
        waited_s += 0.1
    assert STOP_S + DEADLINE_S < LEASE_S
    assert waited_s <= LEASE_S + WATCH_S + 0.2


async def test_who_leads_again_begins_its_work_anew(brains: Brains) -> None:
    brain = brains.start("a")
    await brains.clock.advance(CHECK_S)
    brains.lease.is_away = True
    await brains.clock.advance(DEADLINE_S + CHECK_S)
    assert brains.working == []
    assert brain.meter.value(names.BRAIN_LEADS) == 0
    brains.lease.is_away = False
    await brains.clock.advance(RENEW_S + CHECK_S)
    assert brains.working == ["a"]


async def test_work_that_does_not_end_is_an_error_and_the_lease_is_not_released() -> None:
    lease, clock = MemoryLease(), ManualClock()
    leading = Leading(Election("a"), lease, fake_process(clock=clock), stop_s=0.05)
    over = asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await over.wait()

    async with asyncio.TaskGroup() as group:
        elect = group.create_task(leading.elect())

        async def led() -> None:
            with pytest.raises(HungTasksError):
                await leading.lead(lambda: {"stubborn": stubborn})

        lead = group.create_task(led())
        await clock.advance(CHECK_S)
        lead.cancel()
        await asyncio.wait([lead])
        elect.cancel()
        await asyncio.wait([elect])
        over.set()
    assert lease.kept is not None
    assert lease.kept.holder == "a"
