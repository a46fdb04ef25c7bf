import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.opening import LONG_S, OpeningTurns

from tests.controller.ingest.test_learning import TickingClock


@dataclass
class Opened:
    """What is opened in which turn of the loop, by a clock that only those who open advance."""

    clock: TickingClock = field(default_factory=TickingClock)
    seen: list[int | str] = field(default_factory=list)

    def body(self, number: int, seconds: float) -> Callable[[], int]:
        def open_body() -> int:
            self.seen.append(number)
            self.clock.elapsed += seconds
            return number

        return open_body

    async def others(self, turns: int) -> None:
        """Somebody else who is served in each of *turns*."""
        for _ in range(turns):
            await asyncio.sleep(0)
            self.seen.append("|")

    def by_turns(self) -> list[list[int]]:
        found: list[list[int]] = [[]]
        for one in self.seen:
            if isinstance(one, int):
                found[-1].append(one)
            else:
                found.append([])
        return [some for some in found if some]


async def opened_together(turns: OpeningTurns, opened: Opened, seconds: list[float]) -> list[int]:
    """Bodies that all come in one turn, each of which takes so long; what their callers get, in that order."""
    async with asyncio.TaskGroup() as group:
        group.create_task(opened.others(3 * len(seconds) + 3))
        waiting = [
            group.create_task(turns.opened(opened.body(number, one)))
            for number, one in enumerate(seconds)
        ]
    return [task.result() for task in waiting]


@given(st.lists(st.floats(0, 3 * LONG_S), max_size=30))
async def test_no_turn_begins_another_body_once_it_is_long_and_all_come_in_order(
    seconds: list[float],
) -> None:
    opened = Opened()
    callers = await opened_together(OpeningTurns(opened.clock), opened, seconds)
    by_turns = opened.by_turns()
    assert callers == [number for some in by_turns for number in some] == list(range(len(seconds)))
    for some in by_turns:
        assert sum(seconds[number] for number in some[:-1]) < LONG_S + 1e-9


async def test_two_dozen_bodies_of_one_moment_are_opened_two_at_a_time_and_others_served_between() -> (
    None
):
    opened = Opened()
    await opened_together(OpeningTurns(opened.clock), opened, [0.6 * LONG_S] * 24)
    assert opened.by_turns() == [[number, number + 1] for number in range(0, 24, 2)]


async def test_a_body_that_comes_alone_is_opened_before_anybody_else_is_served() -> None:
    opened = Opened()
    turns = OpeningTurns(opened.clock)
    for number in range(3):
        async with asyncio.TaskGroup() as group:
            group.create_task(opened.others(3))
            group.create_task(turns.opened(opened.body(number, 5 * LONG_S)))
    assert opened.seen == [0, "|", "|", "|", 1, "|", "|", "|", 2, "|", "|", "|"]


async def test_nobody_overtakes_those_who_wait() -> None:
    opened = Opened()
    turns = OpeningTurns(opened.clock)

    async def late() -> None:
        await asyncio.sleep(0)
        await turns.opened(opened.body(9, 0.0))

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(turns.opened(opened.body(number, LONG_S)))
        group.create_task(late())
    assert opened.seen == [0, 1, 2, 3, 9]


async def test_time_that_others_have_taken_of_a_turn_counts() -> None:
    opened = Opened()
    turns = OpeningTurns(opened.clock)

    async def learns() -> None:
        opened.clock.elapsed += LONG_S

    async with asyncio.TaskGroup() as group:
        group.create_task(opened.others(2))
        group.create_task(turns.opened(opened.body(0, 0.0)))
        group.create_task(learns())
        group.create_task(turns.opened(opened.body(1, 0.0)))
    assert opened.by_turns() == [[0], [1]]


async def test_what_one_body_raises_is_its_callers_alone() -> None:
    opened = Opened()
    turns = OpeningTurns(opened.clock)

    def broken() -> int:
        raise ValueError("not a body")

    async with asyncio.TaskGroup() as group:
        first = group.create_task(turns.opened(opened.body(0, LONG_S)))
        second = group.create_task(caught(turns, broken))
        third = group.create_task(turns.opened(opened.body(2, LONG_S)))
    assert (first.result(), second.result(), third.result()) == (0, "not a body", 2)
    with pytest.raises(ValueError, match="not a body"):
        await turns.opened(broken)


async def caught(turns: OpeningTurns, open_body: Callable[[], int]) -> str:
    with pytest.raises(ValueError) as failure:  # noqa: PT011 - its text is what the caller looks at
        await turns.opened(open_body)
    return str(failure.value)


async def test_a_body_whose_caller_has_gone_while_it_waited_is_not_opened() -> None:
    opened = Opened()
    turns = OpeningTurns(opened.clock)
    async with asyncio.TaskGroup() as group:
        group.create_task(turns.opened(opened.body(0, LONG_S)))
        gone = group.create_task(turns.opened(opened.body(1, LONG_S)))
        stays = group.create_task(turns.opened(opened.body(2, LONG_S)))
        await asyncio.sleep(0)
        gone.cancel()
    assert opened.seen == [0, 2]
    assert stays.result() == 2
    assert gone.cancelled()
    # And nothing is left of it: the next one need not wait.
    assert await turns.opened(opened.body(3, 0.0)) == 3
