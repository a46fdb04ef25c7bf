"""Whoever sends requests in pieces, several at once and after rests, gets each answer, while the loop is held up
again and again."""

import asyncio
import dataclasses
import os
import random
import time
from collections.abc import Callable

import pytest

from tests.fakes.listeners import EVENT_LOOPS, LIMITS, Listener, closing, listening, one_answer

SECONDS = float(os.environ.get("DRILL_MINUTES", "0.5")) * 60
CLIENTS = 6
REST_S = 0.01
"""As short as what the loop is held up for, so that both fall together often."""

Request = tuple[bytes, bytes]
"""What is sent, and the body of its answer."""


def any_request(random: random.Random) -> Request:
    # Some are answered at once, some only by the parser, and some posts are passed on to it.
    further = random.choice((b"", b"X-For-The-Parser: 1\r\n"))
    if random.random() < 0.3:
        return b"GET /echo HTTP/1.1\r\nHost: x\r\n" + further + b"\r\n", b"GET "
    body = random.choice((b"", b"later")) + b"x" * random.choice((0, 1, 10, 3000))
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
    return head % (further, len(body)) + body, b"POST " + body


async def hold_up(random: random.Random) -> None:
    while True:
        await asyncio.sleep(random.random() * REST_S / 2)
        time.sleep(random.choice((0, REST_S / 5, REST_S * 1.1, REST_S * 2)))  # noqa: ASYNC251 - on purpose


async def converse(listener: Listener, random: random.Random) -> int:
    """The number of answers on one connection."""
    reader, writer = await listener.call()
    answered = 0
    async with closing(writer):
        for _ in range(10):
            await asyncio.sleep(random.choice((0, REST_S, 2 * REST_S)))
            requests = [any_request(random) for _ in range(random.choice((1, 1, 1, 2, 3)))]
            left = b"".join(sent for sent, _ in requests)
            while left:
                cut = random.choice((len(left), random.randint(1, len(left))))
                writer.write(left[:cut])
                left = left[cut:]
                await asyncio.sleep(random.choice((0, REST_S / 3)))
            for _, answer in requests:
                assert await one_answer(reader) == (200, answer)
                answered += 1
    return answered


async def drill(seed: int) -> int:
    limits = dataclasses.replace(LIMITS, rest_s=REST_S)
    until, answered = time.monotonic() + SECONDS, 0
    async with listening(Listener(limits=limits)) as listener, asyncio.TaskGroup() as tasks:
        holding = tasks.create_task(hold_up(random.Random(seed)))

        async def client(number: int) -> None:
            nonlocal answered
            chosen = random.Random(1000 * seed + number)
            while time.monotonic() < until:
                answered += await converse(listener, chosen)

        async with asyncio.TaskGroup() as clients:
            for number in range(CLIENTS):
                clients.create_task(client(number))
        holding.cancel()
    return answered


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("loop", EVENT_LOOPS.values(), ids=EVENT_LOOPS)
def test_each_request_is_answered(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    seed = random.randrange(1 << 20)
    print(f"seed {seed}")
    with asyncio.Runner(loop_factory=loop) as runner:
        answered = runner.run(drill(seed))
    print(f"{answered} answers")
    assert answered > CLIENTS
