"""The brain's snapshots are polled again and again; while it is away, the last one stays."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest
from nemutator_common import names
from nemutator_common.shipping.links import BatchRefusedError, LinkError, LinkUnavailableError
from nemutator_controller.admission.snapshot_poller import BACKOFF, SnapshotPoller
from nemutator_controller.admission.snapshots import SnapshotError

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

EVERY_S = 10.0
UNREADABLE = b"unreadable"
AWAY = LinkUnavailableError("connection", "no brain answers")


class Brain:
    """Documents that a test changes."""

    def __init__(self) -> None:
        self.document: bytes | LinkError = b"one"
        self.asked: list[str] = []

    async def get(self, path: str) -> bytes:
        self.asked.append(path)
        if isinstance(self.document, LinkError):
            raise self.document
        return self.document


class Polled:
    def __init__(self, roll: float) -> None:
        self.brain, self.clock, self.meter = Brain(), ManualClock(), MemoryMeter()
        self.taken: list[bytes] = []
        self.poller = SnapshotPoller(
            "advice",
            "/path",
            self.brain.get,
            self.take,
            every_s=EVERY_S,
            process=fake_process(clock=self.clock, meter=self.meter, roll=roll),
        )

    async def take(self, document: bytes) -> None:
        if document == UNREADABLE:
            raise SnapshotError("not a list")
        self.taken.append(document)

    @property
    def age_s(self) -> float:
        return self.meter.value(names.SNAPSHOT_AGE, snapshot="advice")

    def failures(self, reason: str) -> float:
        return self.meter.value(names.SNAPSHOT_FAILURES, snapshot="advice", reason=reason)

    async def polls_after(self, delay_s: float) -> None:
        """It polls again after *delay_s*, and not before."""
        asked = len(self.brain.asked)
        await self.clock.advance(delay_s - 0.01)
        assert len(self.brain.asked) == asked
        await self.clock.advance(0.01 + 1e-6)
        assert len(self.brain.asked) == asked + 1


@contextlib.asynccontextmanager
async def polled(*, roll: float = 0.5, first: bytes | LinkError = b"one") -> AsyncIterator[Polled]:
    """After the first poll."""
    polled = Polled(roll)
    polled.brain.document = first
    async with asyncio.TaskGroup() as group:
        task = group.create_task(polled.poller.run())
        await polled.clock.until_sleeping()
        yield polled
        task.cancel()


async def test_a_snapshot_is_taken_when_it_is_another() -> None:
    async with polled() as it:
        assert it.taken == [b"one"]
        await it.clock.advance(EVERY_S)
        assert (it.taken, len(it.brain.asked)) == ([b"one"], 2)
        it.brain.document = b"two"
        await it.clock.advance(EVERY_S)
        assert it.taken == [b"one", b"two"]
        assert set(it.brain.asked) == {"/path"}
        assert it.age_s == 0


@pytest.mark.parametrize(("roll", "delay_s"), [(0.0, 7.5), (0.5, 10.0), (0.9, 12.0)])
async def test_replicas_do_not_poll_together(roll: float, delay_s: float) -> None:
    async with polled(roll=roll) as it:
        await it.polls_after(delay_s)
        await it.polls_after(delay_s)


async def test_a_brain_that_is_away_changes_nothing_and_the_age_is_shown() -> None:
    async with polled() as it:
        it.brain.document = AWAY
        await it.clock.advance(600)
        assert it.taken == [b"one"]
        assert 600 - BACKOFF.longest_s <= it.age_s <= 600
        assert 600 / BACKOFF.longest_s <= it.failures("connection") <= 100
        it.brain.document = b"two"
        await it.clock.advance(BACKOFF.longest_s)
        assert (it.taken, it.age_s) == ([b"one", b"two"], 0)


async def test_a_brain_that_is_away_is_asked_ever_more_seldom_until_it_answers() -> None:
    async with polled(roll=1.0, first=AWAY) as it:
        for failures in range(1, 9):
            await it.polls_after(BACKOFF.delay_s(failures, roll=1.0))
        it.brain.document = b"one"
        await it.polls_after(BACKOFF.longest_s)
        it.brain.document = AWAY
        await it.polls_after(1.25 * EVERY_S)
        await it.polls_after(BACKOFF.delay_s(1, roll=1.0))


async def test_an_outage_is_logged_at_its_begin_and_at_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        async with polled() as it:
            for _ in range(2):
                it.brain.document = AWAY
                await it.clock.advance(600)
                it.brain.document = b"one"
                await it.clock.advance(600)
    logged = [record.message for record in caplog.records]
    assert logged == ["snapshot_unavailable", "snapshot_recovered"] * 2


async def test_without_a_first_one_the_age_is_that_of_the_process() -> None:
    async with polled(first=AWAY) as it:
        await it.clock.advance(100)
        assert 100 - BACKOFF.longest_s <= it.age_s <= 100


@pytest.mark.parametrize(
    "refused", [UNREADABLE, BatchRefusedError("malformed", "the brain answers 400")]
)
async def test_what_is_refused_by_either_side_is_polled_again(refused: bytes | LinkError) -> None:
    async with polled() as it:
        it.brain.document = refused
        await it.clock.advance(EVERY_S)
        assert it.failures("malformed") == 1
        assert it.taken == [b"one"]
        it.brain.document = b"two"
        await it.clock.advance(BACKOFF.longest_s)
        assert it.taken == [b"one", b"two"]


@pytest.mark.parametrize(("wish_s", "delay_s"), [(1e9, 60.0), (20.0, 20.0), (0.0, 0.75)])
async def test_a_busy_brain_is_asked_as_late_as_it_wishes_within_bounds(
    wish_s: float, delay_s: float
) -> None:
    async with polled() as it:
        it.brain.document = LinkUnavailableError("busy", "later", retry_after_s=wish_s)
        await it.clock.advance(EVERY_S)
        await it.polls_after(delay_s)
