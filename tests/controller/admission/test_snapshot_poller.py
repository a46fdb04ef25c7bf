"""What the brain says is asked for again and again; its silence changes nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from nemutator_common import names
from nemutator_common.shipping.links import BatchRefusedError, LinkError, LinkUnavailableError
from nemutator_controller.admission.snapshot_poller import BACKOFF, SnapshotPoller
from nemutator_controller.admission.snapshots import SnapshotError

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

EVERY_S = 10.0
NONSENSE = b"nonsense"


class Brain:
    """`Documents` that a test changes."""

    def __init__(self) -> None:
        self.says: bytes | LinkError = b"one"
        self.asked: list[str] = []

    async def get(self, path: str) -> bytes:
        self.asked.append(path)
        if isinstance(self.says, LinkError):
            raise self.says
        return self.says


class Play:
    def __init__(self) -> None:
        self.brain, self.clock, self.meter = Brain(), ManualClock(), MemoryMeter()
        self.taken: list[bytes] = []
        self.hearing = SnapshotPoller(
            "advice",
            "/path",
            self.brain,
            self.take,
            every_s=EVERY_S,
            process=fake_process(clock=self.clock, meter=self.meter, roll=0.5),
        )

    def take(self, document: bytes) -> None:
        if document == NONSENSE:
            raise SnapshotError("not a list")
        self.taken.append(document)

    @property
    def age_s(self) -> float:
        return self.meter.value(names.SNAPSHOT_AGE, snapshot="advice")

    def failures(self, reason: str) -> float:
        return self.meter.value(names.SNAPSHOT_FAILURES, snapshot="advice", reason=reason)


@contextlib.asynccontextmanager
async def played() -> AsyncIterator[Play]:
    """After the first look."""
    play = Play()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(play.hearing.run())
        await play.clock.until_sleeping()
        yield play
        task.cancel()


async def test_a_snapshot_is_taken_when_it_is_another() -> None:
    async with played() as play:
        assert play.taken == [b"one"]
        await play.clock.advance(EVERY_S)
        assert (play.taken, len(play.brain.asked)) == ([b"one"], 2)
        play.brain.says = b"two"
        await play.clock.advance(EVERY_S)
        assert play.taken == [b"one", b"two"]
        assert set(play.brain.asked) == {"/path"}
        assert play.age_s == 0


async def test_a_brain_that_is_away_changes_nothing_and_the_age_is_told() -> None:
    async with played() as play:
        play.brain.says = LinkUnavailableError("connection", "no brain answers")
        await play.clock.advance(600)
        assert play.taken == [b"one"]
        assert 600 - BACKOFF.longest_s <= play.age_s <= 600
        assert 600 / BACKOFF.longest_s <= play.failures("connection") <= 100
        play.brain.says = b"two"
        await play.clock.advance(BACKOFF.longest_s)
        assert (play.taken, play.age_s) == ([b"one", b"two"], 0)


async def test_without_a_first_one_the_age_is_that_of_the_process() -> None:
    async with played() as play:
        fresh = Play()
        fresh.brain.says = LinkUnavailableError("connection", "no brain answers")
        async with asyncio.TaskGroup() as group:
            task = group.create_task(fresh.hearing.run())
            await fresh.clock.until_sleeping()
            await fresh.clock.advance(100)
            assert fresh.age_s > 80
            task.cancel()
        assert play.age_s == 0


async def test_nonsense_is_left_and_asked_for_again() -> None:
    async with played() as play:
        play.brain.says = NONSENSE
        await play.clock.advance(EVERY_S)
        assert play.failures("malformed") == 1
        assert play.taken == [b"one"]
        play.brain.says = b"two"
        await play.clock.advance(BACKOFF.longest_s)
        assert play.taken == [b"one", b"two"]


async def test_a_refusal_is_no_end() -> None:
    async with played() as play:
        play.brain.says = BatchRefusedError("malformed", "the brain answers 400")
        await play.clock.advance(EVERY_S)
        assert play.failures("malformed") == 1
        play.brain.says = b"two"
        await play.clock.advance(BACKOFF.longest_s)
        assert play.taken == [b"one", b"two"]


async def test_a_busy_brain_is_asked_as_late_as_it_wishes_within_bounds() -> None:
    async with played() as play:
        play.brain.says = LinkUnavailableError("busy", "later", retry_after_s=1e9)
        await play.clock.advance(EVERY_S)
        asked = len(play.brain.asked)
        await play.clock.advance(59)
        assert len(play.brain.asked) == asked
        await play.clock.advance(2)
        assert len(play.brain.asked) == asked + 1
