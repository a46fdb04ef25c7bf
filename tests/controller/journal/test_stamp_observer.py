"""Pods give their names to the decisions that made them, in whichever order the two are heard of."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_controller.journal.records import StampedPod
from nemutator_controller.journal.stamp_observer import (
    LONGEST_S,
    MOST_FRESH,
    MOST_WAITING,
    TRIES,
    StampObserver,
    pod_stamp_of,
)
from nemutator_controller.mutations.decisions import pod_subject

from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import POD, decision
from tests.fakes.journals import MemoryJournal
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

UNNAMED = replace(POD, name="", generate_name="web-")


def marked(number: int, *, stamp: str | None = None, namespace: str = "team") -> StampedPod:
    pod = pod_subject(namespace, f"web-{number}", f"u{number}")
    return StampedPod(pod, f'{{"id": "d{number}"}}' if stamp is None else stamp)


class Watch:
    """`MarkedPods` that a test tells."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[StampedPod] = asyncio.Queue()

    def tell(self, *pods: StampedPod) -> None:
        for pod in pods:
            self.told.put_nowait(pod)

    async def changes(self) -> AsyncIterator[StampedPod]:
        while True:
            yield await self.told.get()


class Play:
    def __init__(self) -> None:
        self.journal, self.watch = MemoryJournal(), Watch()
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.stamps = StampObserver(
            self.journal, self.watch, process=fake_process(meter=self.meter, clock=self.clock)
        )

    async def decide(self, *numbers: int) -> None:
        new = [decision(number, subject=UNNAMED) for number in numbers]
        await self.journal.add(new, writer="a", state="answered")

    async def found(self, number: int) -> tuple[str, str]:
        entry = await self.journal.entry(f"d{number}")
        assert entry is not None
        return entry.state, entry.decision.subject.name

    def count(self, result: str) -> float:
        return self.meter.value(names.STAMPS, result=result)


@contextlib.asynccontextmanager
async def played() -> AsyncIterator[Play]:
    play = Play()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(play.stamps.run())
        await play.clock.until_sleeping()
        yield play
        task.cancel()


async def test_a_pod_that_is_seen_names_its_decision() -> None:
    async with played() as play:
        await play.decide(1, 2)
        play.watch.tell(marked(1))
        await play.clock.advance(1)
        await play.clock.advance(1)
        assert await play.found(1) == ("observed", "web-1")
        assert await play.found(2) == ("answered", "")
        assert play.count("observed") == 1


async def test_a_pod_may_be_seen_before_its_decision_has_come() -> None:
    async with played() as play:
        play.watch.tell(marked(1))
        await play.clock.advance(60)
        await play.decide(1)
        await play.clock.advance(120)
        assert await play.found(1) == ("observed", "web-1")
        assert play.count("unknown") == 0


async def test_a_decision_that_never_comes_is_given_up_and_counted() -> None:
    async with played() as play:
        play.watch.tell(marked(1))
        await play.clock.advance(TRIES * LONGEST_S + 60)
        assert play.count("unknown") == 1
        await play.decide(1)
        play.watch.tell(marked(1))
        await play.clock.advance(600)
        assert await play.found(1) == ("answered", "")


async def test_the_same_pod_again_costs_the_journal_nothing() -> None:
    async with played() as play:
        await play.decide(1)
        play.watch.tell(*[marked(1)] * 5)
        await play.clock.advance(2)
        play.watch.tell(marked(1))
        await play.clock.advance(2)
        assert play.count("observed") == 1
        assert play.count("known") == 0


async def test_a_new_brain_finds_what_is_known_already() -> None:
    async with played() as play:
        await play.decide(1)
        await play.journal.seen("d1", name="web-1", uid="u1")
        play.watch.tell(marked(1))
        await play.clock.advance(2)
        assert play.count("known") == 1


async def test_a_copied_mark_names_nothing() -> None:
    async with played() as play:
        await play.decide(1)
        play.watch.tell(marked(7, stamp='{"id": "d1"}', namespace="theirs"))
        await play.clock.advance(2)
        assert await play.found(1) == ("answered", "")
        assert play.count("foreign") == 1


async def test_a_broken_database_is_told_later() -> None:
    async with played() as play:
        await play.decide(1)
        play.journal.broken = "busy"
        play.watch.tell(marked(1))
        await play.clock.advance(5)
        play.journal.broken = None
        await play.clock.advance(2)
        assert await play.found(1) == ("observed", "web-1")


async def test_any_number_is_noted_and_no_more_than_some_wait_at_once() -> None:
    async with played() as play:
        many = range(1, 2 * MOST_FRESH + 2)
        await play.decide(*many)
        play.watch.tell(*map(marked, many))
        await play.clock.advance(1)
        assert play.watch.told.qsize() > 0
        await play.clock.advance(5)
        assert play.count("observed") == len(many)


@pytest.mark.slow
async def test_of_too_many_without_a_decision_some_are_left_and_counted() -> None:
    async with played() as play:
        play.watch.tell(*map(marked, range(MOST_WAITING + 10)))
        await play.clock.advance(20)
        assert play.count("full") == 10


@pytest.mark.parametrize("stamp", ["", "?", "{}", '{"id": ""}', '{"id": "%s"}' % ("x" * 65)])
def test_what_is_no_stamp_of_ours_is_left_out(stamp: str) -> None:
    assert pod_stamp_of(marked(1, stamp=stamp)) is None
