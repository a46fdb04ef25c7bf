"""Posts that are answered at once get what the parser's way gives them, however their bytes come."""

import asyncio
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.serving.tls import TlsFiles

from tests.fakes.kube.certificates import AuthorityFiles
from tests.fakes.listeners import (
    HASTE_S,
    LIMITS,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)

BODY = b"x" * 3000
POST = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\n\r\n" + BODY
ANSWER = b"POST " + BODY


async def test_the_answer_is_the_same_on_both_ways() -> None:
    async with listening(Listener()) as listener:
        answers = []
        for data in (POST, POST.replace(b"Host", b"X: y\r\nHost")):
            reader, writer = await listener.call(data)
            async with closing(writer):
                head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
                body = await reader.readexactly(len(ANSWER))
            answers.append(({line for line in head if not line.startswith(b"Date: ")}, body))
        assert answers[0] == answers[1]
        assert answers[0][1] == ANSWER
        assert listener.answered_plainly == Listener.answers_plainly
        assert listener.meter.total(names.HTTP_REQUESTS, method="POST", status="200") == 2


@pytest.mark.parametrize("size", [1, 40, 57, 58, 1000])
async def test_its_bytes_may_come_in_any_pieces(size: int) -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for _ in range(3):
                for at in range(0, len(POST), size):
                    writer.write(POST[at : at + size])
                    if size > 1 or at < 100:
                        await writer.drain()
                        await asyncio.sleep(0)
                assert await one_answer(reader) == (200, ANSWER)


async def test_ways_alternate_on_one_connection() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for sent, status in (
                (POST, 200),
                (POST.replace(b"/echo", b"/ignore"), 200),
                (POST, 200),
                (b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", 200),
                (POST.replace(b"/echo", b"/nowhere"), 404),
                (POST, 200),
            ):
                writer.write(sent)
                assert (await one_answer(reader))[0] == status
        assert listener.answered_plainly == 4 * Listener.answers_plainly


async def test_posts_that_come_together_are_answered_in_their_order() -> None:
    async with listening(Listener()) as listener:
        others = POST.replace(BODY, b"y" * 3000)
        reader, writer = await listener.call(POST + others[:100])
        async with closing(writer):
            assert (await one_answer(reader))[1] == ANSWER
            writer.write(others[100:])
            assert (await one_answer(reader))[1] == b"POST " + b"y" * 3000
            writer.write(POST)
            assert (await one_answer(reader))[1] == ANSWER


async def test_a_body_that_is_too_large_is_refused() -> None:
    async with listening(Listener()) as listener:
        head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"
        reader, writer = await listener.call(head)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 413


async def test_a_large_one_that_is_not_answered_at_once_is_answered_in_the_end() -> None:
    """The parser stops reading when it holds much, and goes on by itself."""
    body = b"later" + b"x" * (600 << 10)
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with listening(Listener(limits=replace(LIMITS, body_bytes=1 << 20))) as listener:
        reader, writer = await listener.call(head + body)
        async with closing(writer):
            assert await one_answer(reader) == (200, b"POST " + body)
            writer.write(POST)
            assert await one_answer(reader) == (200, ANSWER)


async def test_who_sends_slowly_hears_so() -> None:
    hasty = replace(LIMITS, head_s=HASTE_S, request_s=HASTE_S)
    async with listening(Listener(limits=hasty)) as listener:
        answer = await listener.ask(POST[:-1])
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert listener.dropped("request_deadline") == 1


async def test_who_leaves_in_the_middle_leaves_nothing_behind() -> None:
    async with listening(Listener()) as listener:
        _, writer = await listener.call(POST[:-1])
        await listener.until(lambda: listener.server.connections == 1)
        writer.close()
        await listener.quiet()


async def test_a_listener_that_lingers_takes_the_rest_and_says_that_it_closes() -> None:
    listener = Listener(limits=replace(LIMITS, linger_s=60.0))
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call(POST)
        async with closing(writer):
            assert (await one_answer(reader))[1] == ANSWER
            writer.write(POST[:-10])
            await writer.drain()
            running.cancel()
            await asyncio.sleep(0)
            writer.write(POST[-10:])
            answer = await everything(reader)
    assert answer.endswith(ANSWER)
    assert b"\r\nConnection: close\r\n" in answer


async def test_over_tls_too(tmp_path: Path) -> None:
    authority = AuthorityFiles(tmp_path)
    authority.server_context()
    files = TlsFiles(tmp_path / "server.crt", tmp_path / "server.key")
    trusting = ssl.create_default_context(cafile=authority.file)
    async with listening(Listener(tls=files)) as listener:
        reader, writer = await listener.call(tls=trusting)
        async with closing(writer):
            for at in range(0, len(POST), 700):
                writer.write(POST[at : at + 700])
                await writer.drain()
            assert (await one_answer(reader))[1] == ANSWER
