"""A connection that waits for its next request for long keeps no more than its transport, and nobody notices."""

import asyncio
import dataclasses

import pytest

from tests.fakes.listeners import (
    GET,
    LIMITS,
    PATIENCE_S,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)

SOON = dataclasses.replace(LIMITS, rest_s=0.01)
PARSED = GET.replace(b"\r\n\r\n", b"\r\nX-For-The-Parser: 1\r\n\r\n")


async def rested() -> None:
    """Wait until aiohttp has nothing to do for anybody."""
    async with asyncio.timeout(PATIENCE_S):
        while tasks := [t for t in asyncio.all_tasks() if "RequestHandler" in repr(t.get_coro())]:
            await asyncio.wait(tasks)


async def other_requests(listener: Listener) -> None:
    """So many turns of the loop that whatever is due has been done."""
    reader, writer = await listener.call()
    async with closing(writer):
        for _ in range(10):
            writer.write(PARSED)
            assert (await one_answer(reader))[0] == 200


async def test_requests_are_answered_after_a_rest_as_before() -> None:
    async with listening(Listener(limits=SOON)) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for _ in range(3):
                writer.write(PARSED)
                assert (await one_answer(reader))[0] == 200
                await rested()
                # Two at once, of which the second waits for the first.
                writer.write(PARSED + PARSED)
                assert (await one_answer(reader))[0] == 200
                assert (await one_answer(reader))[0] == 200


@pytest.mark.parametrize("cut", [1, len(PARSED) - 1, len(PARSED) + 40])
async def test_a_part_of_the_next_request_is_kept_while_its_sender_rests(cut: int) -> None:
    post = PARSED.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 90\r\n\r\n")
    second = post + b"x" * 90
    async with listening(Listener(limits=dataclasses.replace(LIMITS, rest_s=0.0))) as listener:
        reader, writer = await listener.call(PARSED + second[:cut])
        async with closing(writer):
            assert (await one_answer(reader))[0] == 200
            await other_requests(listener)
            writer.write(second[cut:])
            assert await one_answer(reader) == (200, b"POST " + b"x" * 90)


async def test_who_asks_again_while_an_answer_is_being_ended_is_answered() -> None:
    """A loop that was held up for long finds both at once: the time to rest, and the end of an answer."""
    async with listening(Listener(limits=dataclasses.replace(LIMITS, rest_s=0.0))) as listener:
        reader, writer = await listener.call(PARSED)
        async with closing(writer):
            for _ in range(20):
                assert (await one_answer(reader))[0] == 200
                writer.write(PARSED)
            assert (await one_answer(reader))[0] == 200


async def test_who_is_at_rest_is_sent_away_when_the_listener_stops() -> None:
    listener = Listener(limits=SOON)
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call(PARSED)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 200
            await rested()
            running.cancel()
            assert await everything(reader) == b""
    assert listener.server.connections == 0
    assert listener.dropped("drained") == 1


async def test_who_is_at_rest_for_too_long_is_dropped_as_anybody_who_is_idle() -> None:
    limits = dataclasses.replace(SOON, idle_s=0.2)
    async with listening(Listener(limits=limits)) as listener:
        reader, writer = await listener.call(PARSED)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 200
            assert await everything(reader) == b""
        assert listener.dropped("idle") == 1


async def test_a_request_that_came_with_another_one_is_not_disturbed() -> None:
    async with listening(Listener(limits=dataclasses.replace(LIMITS, rest_s=0.0))) as listener:
        reader, writer = await listener.call(PARSED + PARSED.replace(b"/echo", b"/slow"))
        async with closing(writer):
            assert (await one_answer(reader))[0] == 200
            await listener.entered.wait()
            listener.release.set()
            assert (await one_answer(reader))[0] == 200
