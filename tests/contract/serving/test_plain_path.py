"""Answers at once are those of the parser's way, and no limit is another one there."""

import asyncio

import pytest
from nemutator_common import names

from tests.fakes.listeners import (
    GET,
    PATIENCE_S,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)

PARSED = GET.replace(b"Host", b"X: y\r\nHost")
"""The same question with a header that a plain request does not have."""


async def head_and_body(reader: asyncio.StreamReader) -> tuple[set[bytes], bytes]:
    """The lines of the head but for the time of the day, and the body."""
    async with asyncio.timeout(PATIENCE_S):
        lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        body = await reader.readexactly(len(b"GET "))
    return {line for line in lines if not line.startswith(b"Date: ")}, body


async def test_the_answer_is_the_same_on_both_ways() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(GET)
        async with closing(writer):
            plain = await head_and_body(reader)
            writer.write(PARSED)
            assert await head_and_body(reader) == plain
        assert listener.answered_plainly == Listener.answers_plainly
        assert listener.meter.total(names.HTTP_REQUESTS, method="GET", status="200") == 2


async def test_a_connection_goes_back_to_the_plain_path_after_other_answers() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for sent, status in (
                (GET, 200),
                (GET.replace(b"/echo", b"/healthz"), 200),
                (GET, 200),
                (GET.replace(b"/echo", b"/nowhere"), 404),
                (GET, 200),
            ):
                writer.write(sent)
                assert (await one_answer(reader))[0] == status
        assert listener.answered_plainly == 3 * Listener.answers_plainly


async def test_what_follows_a_part_of_a_request_is_a_part_of_it() -> None:
    """The parser has the first line of a POST: what looks like a GET is its header, and not one."""
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(b"POST /echo HTTP/1.1\r\nContent-Length: 45\r\nX: ")
        async with closing(writer):
            await listener.until(lambda: listener.server.connections == 1)
            await asyncio.sleep(0)
            writer.write(GET)
            assert listener.answered_plainly == 0
            writer.write(b"x" * 45)
            assert (await one_answer(reader))[1] == b"POST " + b"x" * 45
        assert listener.answered_plainly == 0


CHUNKED = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "plainly_then"),
    [
        (PARSED, 1),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nX: y\r\nContent-Length: 1\r\n\r\nx", 1),
        (CHUNKED, 0),
    ],
    ids=["no body", "a length", "chunks"],
)
async def test_the_parser_is_left_where_it_surely_holds_no_part_of_a_request(
    data: bytes, plainly_then: int
) -> None:
    """Else one request of another form would slow down all the others on its connection."""
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(data)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 200
            writer.write(GET)
            assert (await one_answer(reader))[1] == b"GET "
        assert listener.answered_plainly == plainly_then * Listener.answers_plainly


async def test_requests_that_come_together_are_answered_in_their_order() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(GET.replace(b"/echo", b"/slow"))
        async with closing(writer):
            await listener.entered.wait()
            writer.write(GET)
            listener.release.set()
            assert (await one_answer(reader))[1] == b"at last"
            assert (await one_answer(reader))[1] == b"GET "


async def test_a_defect_is_answered_as_any_other(caplog: pytest.LogCaptureFixture) -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(GET.replace(b"/echo", b"/defect"))
        async with closing(writer):
            assert (await one_answer(reader))[0] == 500
    assert "a detail for nobody" in caplog.text


async def test_a_draining_listener_says_that_the_connection_closes() -> None:
    listener = Listener()
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        reader, writer = await listener.call(GET)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 200
            running.cancel()
            assert await everything(reader) == b""
    assert listener.dropped("drained") == 1
