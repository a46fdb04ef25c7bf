import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.serving.handshaking import (
    MOST_WAITING,
    Handshake,
    Handshakes,
    TooManyWaitError,
)

NEVER_S = 1e6


class Counted:
    def __init__(self, most: int, *, patience_s: float = NEVER_S) -> None:
        self.now = self.highest = 0
        self.handshakes = Handshakes(most, patience_s, changed=self._changed)
        self.given_up: list[str] = []

    def _changed(self, now: int) -> None:
        self.now, self.highest = now, max(now, self.highest)

    async def begin(self, source: str) -> Handshake:
        return await self.handshakes.begin(source, lambda: self.given_up.append(source))


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_comes_when_all_places_are_taken_waits_until_one_is_free() -> None:
    counted = Counted(2)
    first = await counted.begin("a")
    await counted.begin("a")
    async with asyncio.TaskGroup() as tasks:
        third = tasks.create_task(counted.begin("a"))
        await settled()
        assert not third.done()
        counted.handshakes.end(first)
        counted.handshakes.end(first)
    assert (counted.now, counted.highest, counted.given_up) == (2, 2, [])


async def test_an_address_with_many_makes_room_for_one_with_none() -> None:
    counted = Counted(3)
    for source in "bba":
        await counted.begin(source)
    await counted.begin("c")
    assert counted.given_up == ["b"]
    assert counted.now == 3


async def test_two_addresses_do_not_push_each_other_out_in_turn() -> None:
    counted = Counted(3)
    for source in "bba":
        await counted.begin(source)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(counted.begin("a"))
        await settled()
        assert not waiting.done()
        waiting.cancel()
    assert counted.given_up == []


async def test_who_says_nothing_gives_way_after_a_while() -> None:
    counted = Counted(2, patience_s=0.01)
    for source in "abcd":
        await counted.begin(source)
    assert counted.given_up == ["a", "b"]
    assert counted.highest == 2


async def test_addresses_take_turns_and_none_fills_the_queue() -> None:
    counted, order = Counted(1), []
    places = [await counted.begin("x")]

    async def come(source: str) -> None:
        places.append(await counted.begin(source))
        order.append(source)

    async with asyncio.TaskGroup() as tasks:
        for source in "aaabbc":
            tasks.create_task(come(source))
            await settled()
        for _ in range(6):
            counted.handshakes.end(places.pop())
            await settled()
    assert "".join(order) == "abcaba"


async def test_so_many_of_one_address_wait_and_no_more() -> None:
    counted = Counted(1)
    await counted.begin("a")
    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(counted.begin("a")) for _ in range(MOST_WAITING)]
        await settled()
        with pytest.raises(TooManyWaitError):
            await counted.begin("a")
        for one in waiting:
            one.cancel()
    assert counted.now == 1


async def test_who_stops_waiting_takes_no_place() -> None:
    counted = Counted(1)
    first = await counted.begin("a")
    async with asyncio.TaskGroup() as tasks:
        gone = tasks.create_task(counted.begin("a"))
        await settled()
        gone.cancel()
        await settled()
        other = tasks.create_task(counted.begin("a"))
        await settled()
        counted.handshakes.end(first)
    counted.handshakes.end(other.result())
    assert counted.now == 0


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 5))
async def test_however_they_come_no_more_are_under_way_and_all_get_their_turn(
    sources: list[str], most: int
) -> None:
    counted = Counted(most)

    async def shake(source: str) -> None:
        handshake = await counted.begin(source)
        await asyncio.sleep(0)
        counted.handshakes.end(handshake)

    async with asyncio.TaskGroup() as tasks:
        for source in sources:
            tasks.create_task(shake(source))
    assert counted.highest <= most
    assert counted.now == 0
    assert len(counted.given_up) <= len(sources)
