"""How many pieces of work each turn of the loop has, and in which order."""

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar

import pytest
from nemutator_common.serving.loop_sharing import FREE, LoopTurns

from tests.fakes.listeners import EVENT_LOOPS, PATIENCE_S

MOST = 2 * FREE


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return EVENT_LOOPS


async def each_turn_until(is_over: Callable[[], bool], count: Callable[[], int]) -> list[int]:
    """By how much *count* has grown in each turn of the loop."""
    grown, before = [], count()
    async with asyncio.timeout(PATIENCE_S):
        while not is_over():
            await asyncio.sleep(0)
            grown.append(count() - before)
            before = count()
    return grown


async def test_what_is_put_off_is_done_in_its_order_so_much_in_a_turn() -> None:
    turns, done = LoopTurns(MOST), list[int]()
    for number in range(5 * MOST):
        turns.later(lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == []
    grown = await each_turn_until(lambda: len(done) == 5 * MOST, lambda: len(done))
    assert done == list(range(5 * MOST))
    assert [count for count in grown if count] == [MOST] * 5


async def test_a_turn_has_room_for_so_much_and_the_next_one_again() -> None:
    turns = LoopTurns(MOST)
    assert sum(turns.take() for _ in range(3 * MOST)) == MOST
    await turns.room()
    # The one that waited was the first piece of that turn.
    assert 1 + sum(turns.take() for _ in range(3 * MOST)) == MOST


async def test_what_is_done_of_what_was_put_off_leaves_less_room_in_its_turn() -> None:
    turns, room = LoopTurns(MOST), list[int]()

    def last() -> None:
        room.append(sum(turns.take() for _ in range(3 * MOST)))

    for _ in range(FREE):
        turns.later(lambda: None)
    turns.later(last)
    await each_turn_until(lambda: bool(room), lambda: 0)
    assert room == [MOST - FREE - 1]


async def test_who_waits_for_room_begins_with_so_many_others_in_a_turn() -> None:
    turns, begun = LoopTurns(MOST), list[int]()

    async def begin(number: int) -> None:
        await turns.room()
        begun.append(number)

    async with asyncio.TaskGroup() as tasks:
        gone = [tasks.create_task(begin(number)) for number in range(5 * MOST)][-1]
        await asyncio.sleep(0)
        gone.cancel()
        grown = await each_turn_until(lambda: len(begun) == 5 * MOST - 1, lambda: len(begun))
    assert begun == list(range(5 * MOST - 1))
    assert max(grown) <= MOST


async def test_what_fails_holds_up_nothing_behind_it() -> None:
    turns, done, told = LoopTurns(MOST), list[int](), list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what["exception"]))

    def fail() -> None:
        raise KeyError("one")

    turns.later(fail)
    turns.later(lambda: done.append(1))
    await each_turn_until(lambda: bool(done), lambda: 0)
    assert [type(one) for one in told] == [KeyError]


async def test_work_is_done_outside_of_the_request_that_goes_on_just_now() -> None:
    request = ContextVar("request", default="none")
    turns, seen = LoopTurns(MOST), list[str]()
    request.set("one")
    turns.later(lambda: seen.append(request.get()))
    await each_turn_until(lambda: bool(seen), lambda: 0)
    assert seen == ["none"]
