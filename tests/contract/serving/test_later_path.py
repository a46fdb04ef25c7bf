"""What our own processes ask gets without the parser what the parser's way gives it, in whatever pieces it comes."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession
from nemutator_common import names

from tests.contract.serving.tls.pairs import trusting, write_pair
from tests.fakes.listeners import (
    HASTE_S,
    LIMITS,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)

TOKEN = b"Authorization: Bearer aaa.bbb.ccc\r\n"
BODY = b"x" * 3000
POST = b"POST /echo HTTP/1.1\r\nHost: x\r\n" + TOKEN + b"Content-Length: 3000\r\n\r\n" + BODY
GET = b"GET /echo?node=n.1&wait_s=25.0 HTTP/1.1\r\nHost: x\r\n" + TOKEN + b"\r\n"
SLOW = GET.replace(b"/echo", b"/slow")


@pytest.fixture(autouse=True)
def _later() -> Iterator[None]:
    Listener.answers_later = True
    yield
    Listener.answers_later = False


@pytest.mark.parametrize(
    "sent",
    [
        POST,
        GET,
        GET.replace(b"/echo", b"/defect"),
        GET.replace(b"/echo", b"/operator/NO_SPACE"),
        GET.replace(b"/echo", b"/unsendable"),
    ],
    ids=["post", "get", "defect", "operator", "unsendable"],
)
async def test_the_answer_is_the_same_on_both_ways(sent: bytes) -> None:
    async with listening(Listener()) as listener:
        answers = []
        for data in (sent, sent.replace(b"Host", b"X: y\r\nHost")):
            reader, writer = await listener.call(data)
            async with closing(writer):
                head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
                length = next(line for line in head if line.startswith(b"Content-Length: "))
                body = await reader.readexactly(int(length.rpartition(b" ")[2]))
            said = {line for line in head if not line.startswith(b"Date: ")}
            # A defect has the number of its request.
            answers.append((said, body.partition(b'"request"')[0]))
        assert answers[0] == answers[1]
        assert listener.answered_later == 1


@pytest.mark.parametrize("size", [1, 60, 98, 1000])
async def test_its_bytes_may_come_in_any_pieces(size: int) -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for _ in range(3):
                for at in range(0, len(POST), size):
                    writer.write(POST[at : at + size])
                    if size > 1 or at < 200:
                        await writer.drain()
                        await asyncio.sleep(0)
                assert await one_answer(reader) == (200, b"POST " + BODY)


async def test_ways_alternate_on_one_connection() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for sent, status in (
                (POST, 200),
                (POST.replace(b"/echo", b"/ignore"), 200),
                (GET, 200),
                (b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", 200),
                (POST.replace(b"/echo", b"/nowhere"), 404),
                (GET.replace(b"/echo", b"/defect"), 500),
                (POST, 200),
            ):
                writer.write(sent)
                assert (await one_answer(reader))[0] == status
        assert listener.answered_later == 4


async def test_who_asks_before_having_an_answer_is_answered_in_order() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(SLOW)
        async with closing(writer):
            await listener.entered.wait()
            for _ in range(3):
                writer.write(GET)
                await writer.drain()
            writer.write(POST.replace(b"xxx", b"yyy"))
            await writer.drain()
            listener.release.set()
            assert await one_answer(reader) == (200, b"at last")
            for _ in range(3):
                assert await one_answer(reader) == (200, b"GET ")
            assert await one_answer(reader) == (200, b"POST " + b"y" * 3000)


async def test_who_leaves_is_not_worked_for_any_more() -> None:
    async with listening(Listener()) as listener:
        _, writer = await listener.call(SLOW)
        await listener.entered.wait()
        writer.close()
        await listener.cancelled.wait()
        await listener.quiet()
        assert listener.meter.total(names.HTTP_REQUESTS, status="499") == 1


async def test_an_answer_that_takes_too_long_is_given_up_and_says_so() -> None:
    async with listening(Listener(limits=replace(LIMITS, request_s=HASTE_S))) as listener:
        answer = await listener.ask(SLOW)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nConnection: close\r\n" in answer
        assert listener.dropped("request_deadline") == 1
        await listener.cancelled.wait()


async def test_who_waits_when_the_listener_stops_has_an_answer_and_the_end() -> None:
    listener = Listener()
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call(SLOW)
        async with closing(writer):
            await listener.entered.wait()
            running.cancel()
            await asyncio.sleep(0)
            listener.release.set()
            answer = await everything(reader)
    assert answer.endswith(b"at last")
    assert listener.server.connections == 0


async def test_who_waits_longer_than_a_stop_may_take_is_cut() -> None:
    listener = Listener(limits=replace(LIMITS, drain_s=HASTE_S))
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call(SLOW)
        async with closing(writer):
            await listener.entered.wait()
            running.cancel()
            assert await everything(reader) == b""
    assert listener.cancelled.is_set()


async def test_a_body_that_is_too_large_is_refused() -> None:
    async with listening(Listener()) as listener:
        head = POST[: -len(BODY)].replace(b"3000", b"5000")
        reader, writer = await listener.call(head)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 413


async def test_who_sends_slowly_hears_so() -> None:
    hasty = replace(LIMITS, head_s=HASTE_S, request_s=HASTE_S)
    async with listening(Listener(limits=hasty)) as listener:
        answer = await listener.ask(POST[:-1])
        assert answer.startswith(b"HTTP/1.1 408 ")


async def test_over_tls_too(tmp_path: Path) -> None:
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(tls=trusting())
        async with closing(writer):
            for sent, body in ((POST, b"POST " + BODY), (GET, b"GET ")):
                for at in range(0, len(sent), 700):
                    writer.write(sent[at : at + 700])
                    await writer.drain()
                assert await one_answer(reader) == (200, body)
            writer.write(SLOW)
            await listener.entered.wait()
            listener.release.set()
            assert await one_answer(reader) == (200, b"at last")
        # The first piece of the POST has its head, and that of the GET all of it.
        assert listener.answered_later == 3


async def test_what_an_agents_client_sends_goes_this_way() -> None:
    async with listening(Listener()) as listener, ClientSession() as client:
        headers = {"Authorization": "Bearer a.b.c", "Content-Type": "application/json"}
        async with client.post(
            f"http://{listener.server.address}/echo", data=BODY, headers=headers
        ) as answer:
            assert await answer.read() == b"POST " + BODY
        query = {"node": "n-1", "wait_s": "25.0"}
        async with client.get(
            f"http://{listener.server.address}/echo", params=query, headers=headers
        ) as answer:
            assert await answer.read() == b"GET "
        assert listener.answered_later == 2
