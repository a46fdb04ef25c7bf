import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

import pytest
from nemutator_common import names
from nemutator_common.wire import Batch, Envelope
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.gathering import LONGEST_QUEUE, MOST, GatheredReports
from nemutator_controller.ingest.progress import Stored

from tests.fakes.batches import NOW, batch
from tests.fakes.brain_stores import MemoryReports
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


class Groups:
    """A `GroupStore` that says what was written together; a test opens its gate."""

    def __init__(self) -> None:
        self.reports = MemoryReports()
        self.gate = asyncio.Event()
        self.gate.set()
        self.written: list[list[str]] = []
        self.breaking: dict[str, Exception] = {}
        self.slow = False
        """Whoever writes is told that the deadline has passed; a test then calls `end`."""
        self.end: Callable[[], None] = lambda: None
        self.began = asyncio.Event()

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.reports.stored_up_to(node, epoch)

    async def store_all(
        self,
        batches: Sequence[Batch],
        *,
        now: float,
        late: Callable[[Sequence[Stored[Envelope]]], None] | None = None,
    ) -> Sequence[Stored[Envelope]]:
        self.began.set()
        await self.gate.wait()
        for one in batches:
            if one.node in self.breaking:
                raise self.breaking[one.node]
        self.written.append([one.node for one in batches])
        stored = [await self.reports.store(one, now=now) for one in batches]
        if self.slow and late is not None:
            self.end = partial(late, stored)
            raise StoreUnavailableError("deadline")
        return stored


class Bench:
    def __init__(self) -> None:
        self.groups, self.meter = Groups(), MemoryMeter()
        process = fake_process(meter=self.meter)
        self.late: list[tuple[str, list[int]]] = []
        self.reports = GatheredReports(self.groups, process, gather_s=0.0, late=self._note)

    def _note(self, batch: Batch, stored: Stored[Envelope]) -> None:
        self.late.append((batch.node, [envelope.seq for envelope in stored.fresh]))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.TaskGroup]:
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(self.reports.run())
            yield group
            writing.cancel()

    async def outcome(self, node: str) -> Stored[Envelope] | Exception:
        try:
            return await self.reports.store(batch((1,), node=node), now=NOW)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            return error

    async def stored(
        self, group: asyncio.TaskGroup, *nodes: str
    ) -> list[Stored[Envelope] | Exception]:
        """What came of a batch of each of *nodes*, all at once while another is being written."""
        self.groups.gate.clear()
        self.groups.began.clear()
        first = group.create_task(self.outcome("first"))
        await self.groups.began.wait()
        others = [group.create_task(self.outcome(node)) for node in nodes]
        await asyncio.sleep(0)
        self.groups.gate.set()
        await first
        return [await one for one in others]


async def test_what_comes_while_a_group_is_written_is_the_next_group() -> None:
    bench = Bench()
    async with bench.running() as tasks:
        done = await bench.stored(tasks, "a", "b", "c")
    assert [one.seq for one in done if isinstance(one, Stored)] == [1, 1, 1]
    assert bench.groups.written == [["first"], ["a", "b", "c"]]
    assert bench.meter.value(names.REPORT_GROUP_SIZE) is not None


async def test_a_group_is_bounded() -> None:
    bench = Bench()
    async with bench.running() as tasks:
        await bench.stored(tasks, *(f"n{number}" for number in range(MOST + 3)))
    assert [len(group) for group in bench.groups.written] == [1, MOST, 3]


async def test_what_one_breaks_is_stored_for_the_others() -> None:
    bench = Bench()
    bench.groups.breaking["b"] = OverflowError("too large")
    async with bench.running() as tasks:
        first, second, third = await bench.stored(tasks, "a", "b", "c")
    assert isinstance(first, Stored)
    assert isinstance(second, OverflowError)
    assert isinstance(third, Stored)
    assert bench.groups.written == [["first"], ["a"], ["c"]]


async def test_a_disk_that_fails_fails_all_and_the_next_group_goes_on() -> None:
    bench = Bench()
    bench.groups.breaking["b"] = StoreUnavailableError("full")
    async with bench.running() as tasks:
        done = await bench.stored(tasks, "a", "b")
        assert all(isinstance(one, StoreUnavailableError) for one in done)
        assert (await bench.reports.store(batch((1,), node="a"), now=NOW)).seq == 1
        assert await bench.reports.stored_up_to("a", "e1") == 1


async def test_a_batch_that_comes_twice_in_a_group_counts_once() -> None:
    bench = Bench()
    async with bench.running() as tasks:
        done = await bench.stored(tasks, "a", "a")
    assert [len(one.fresh) for one in done if isinstance(one, Stored)] == [1, 0]


async def test_whoever_goes_away_takes_nobody_along() -> None:
    bench = Bench()
    async with bench.running() as tasks:
        bench.groups.gate.clear()
        gone = tasks.create_task(bench.outcome("gone"))
        await bench.groups.began.wait()
        waits, goes = (tasks.create_task(bench.outcome(node)) for node in ("waits", "goes"))
        await asyncio.sleep(0)
        gone.cancel()
        goes.cancel()
        await asyncio.sleep(0)
        bench.groups.gate.set()
        assert isinstance(await waits, Stored)
    assert bench.groups.written == [["gone"], ["waits"]]


async def test_too_many_that_wait_are_told_to_come_again() -> None:
    bench = Bench()
    async with asyncio.TaskGroup() as tasks:
        waiting = [
            tasks.create_task(bench.outcome(f"n{number}")) for number in range(LONGEST_QUEUE)
        ]
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailableError):
            await bench.reports.store(batch((1,)), now=NOW)
        writing = tasks.create_task(bench.reports.run())
        assert all([isinstance(await one, Stored) for one in waiting])
        writing.cancel()


async def test_what_a_write_has_stored_after_its_deadline_is_told_once() -> None:
    bench = Bench()
    async with bench.running():
        bench.groups.slow = True
        assert isinstance(await bench.outcome("a"), StoreUnavailableError)
        assert bench.late == []
        bench.groups.slow = False
        bench.groups.end()
        again = await bench.outcome("a")
    assert isinstance(again, Stored)
    assert not again.fresh
    assert bench.late == [("a", [1])]
    assert bench.meter.value(names.REPORTS_STORED) == 1


async def test_what_is_stored_of_a_caller_who_has_gone_is_told() -> None:
    bench = Bench()
    async with bench.running() as tasks:
        bench.groups.gate.clear()
        gone = tasks.create_task(bench.outcome("a"))
        await bench.groups.began.wait()
        gone.cancel()
        await asyncio.sleep(0)
        bench.groups.gate.set()
        again = await bench.outcome("a")
    assert isinstance(again, Stored)
    assert not again.fresh
    assert bench.late == [("a", [1])]


async def test_who_goes_in_the_moment_in_which_it_is_stored_takes_nothing_along() -> None:
    bench = Bench()
    async with bench.running() as tasks:
        bench.groups.gate.clear()
        gone = tasks.create_task(bench.outcome("a"))
        await bench.groups.began.wait()
        bench.groups.gate.set()
        await asyncio.sleep(0)
        # The result is there, and the caller has not had its turn.
        assert bench.groups.written
        assert not gone.done()
        gone.cancel()
        await asyncio.wait([gone])
    assert gone.cancelled()
    assert bench.late == [("a", [1])]
