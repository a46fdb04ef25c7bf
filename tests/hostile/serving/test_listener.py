"""Bytes and silences of strangers: each ends the stranger with a counted reason, nobody else."""

import asyncio
import contextlib
import dataclasses
import gzip
import os
import resource
import socket
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.addresses import TcpAddress

from tests.fakes.listeners import (
    GET,
    HASTE_S,
    LIMITS,
    PATIENCE_S,
    Listener,
    closing,
    everything,
    listening,
    one_answer,
)

CLOSE = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"


async def still_serves(listener: Listener) -> bool:
    return (await listener.ask(b"GET /echo" + CLOSE + b"\r\n")).endswith(b"GET ")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\xff\xfe garbage \r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET /echo HTTP/9.9\r\n\r\n", 400),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nNo colon\r\n\r\n", 400),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nA: b\r\n folded\r\n\r\n", 400),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n", 400),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 30 + b"\r\n", 400),
        (b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 3000 + b"\r\n\r\n", 431),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\n" + (b"A: " + b"b" * 400 + b"\r\n") * 6, 431),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1_0\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
        (
            b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n"
            + b"\r\n0\r\n\r\n"
            + GET,
            400,
        ),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n", 400),
    ],
)
async def test_what_is_no_request_is_answered_once_and_ended(sent: bytes, status: int) -> None:
    async with listening(Listener()) as listener:
        answer = await listener.ask(sent)
        assert answer.count(b"HTTP/1.") <= 1, "a smuggled request was answered"
        assert not answer or answer[8:].startswith(b" %d " % status)
        await listener.quiet()
        assert listener.dropped("bad_request") + listener.dropped("head_too_large") == 1
        assert await still_serves(listener)


def hasty(**deadlines: Any) -> Listener:
    return Listener(limits=dataclasses.replace(LIMITS, **deadlines))


async def test_a_head_that_comes_byte_by_byte_has_no_more_time() -> None:
    async with listening(hasty(head_s=HASTE_S)) as listener:
        reader, writer = await listener.call()
        async with closing(writer), asyncio.TaskGroup() as tasks:
            ended = tasks.create_task(everything(reader))
            # So slow that the last byte would come after thirty deadlines.
            drip = iter(b"GET /echo HTTP/1.1\r\n" + b"A: b\r\n" * 100)
            while not ended.done():
                writer.write(bytes([next(drip)]))
                await asyncio.wait([ended], timeout=HASTE_S / 20)
        assert ended.result() == b""
        assert listener.dropped("head_deadline") == 1


async def test_silence_ends_before_the_first_request() -> None:
    async with listening(hasty(head_s=HASTE_S)) as listener:
        assert await listener.ask(b"") == b""
        assert listener.dropped("head_deadline") == 1


async def test_silence_ends_after_an_answered_request() -> None:
    async with listening(hasty(idle_s=HASTE_S)) as listener:
        assert b"200 OK" in await listener.ask(GET)
        assert listener.dropped("idle") == 1


async def test_a_body_that_comes_too_slowly_is_answered_so() -> None:
    async with listening(hasty(request_s=HASTE_S, ending_s=PATIENCE_S)) as listener:
        head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"
        reader, writer = await listener.call(head)
        async with closing(writer):
            assert (await one_answer(reader))[0] == 408
        assert listener.meter.total(names.HTTP_REQUESTS, status="408") == 1
        assert listener.dropped("request_deadline") == 1


async def test_a_handler_that_takes_too_long_is_cancelled() -> None:
    async with listening(hasty(request_s=HASTE_S, ending_s=PATIENCE_S)) as listener:
        reader, writer = await listener.call(GET.replace(b"/echo", b"/slow"))
        async with closing(writer):
            assert (await one_answer(reader))[0] == 503
        assert listener.cancelled.is_set()


async def test_a_caller_who_does_not_read_is_cut_off() -> None:
    async with listening(hasty(request_s=HASTE_S)) as listener:
        address = listener.server.address
        assert isinstance(address, TcpAddress)
        with socket.create_connection((address.host, address.port)) as caller:
            caller.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            await listener.until(lambda: listener.dropped("request_deadline") == 1)
            await listener.quiet()


@pytest.mark.parametrize("path", [b"/echo", b"/ignore"])
@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 5000\r\n\r\n" + b"x" * 5000,
        b"Transfer-Encoding: chunked\r\n\r\n" + (b"100\r\n" + b"x" * 256 + b"\r\n") * 20,
        b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
        + b"%x\r\n%s\r\n0\r\n\r\n" % (len(bomb := gzip.compress(bytes(1 << 20))), bomb),
    ],
    ids=["length", "chunked", "gzip bomb"],
)
async def test_a_body_that_is_too_large_is_refused(path: bytes, rest: bytes) -> None:
    async with listening(Listener()) as listener:
        answer = await listener.ask(b"POST " + path + CLOSE + rest)
        unread = path == b"/ignore" and not rest.startswith(b"Content-Length")
        assert answer.startswith(b"HTTP/1.1 200 " if unread else b"HTTP/1.1 413 ")
        await listener.quiet()
        assert await still_serves(listener)


async def test_a_body_without_end_is_a_flood() -> None:
    async with listening(Listener()) as listener:
        reader, writer = await listener.call(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        async with closing(writer):
            await listener.entered.wait()
            writer.write(GET * 2000)
            assert await everything(reader) == b""
        assert listener.dropped("flood") == 1
        assert listener.cancelled.is_set()


async def test_a_broken_chunk_is_the_callers_mistake() -> None:
    async with listening(Listener()) as listener:
        head = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert (await listener.ask(head + b"zz\r\n"))[8:].startswith(b" 400 ")


async def test_many_requests_at_once_are_answered_in_order() -> None:
    # Room for all of them, in case they come in one piece.
    limits = dataclasses.replace(LIMITS, body_bytes=1 << 15)
    async with listening(Listener(limits=limits)) as listener:
        reader, writer = await listener.call()
        async with closing(writer):
            for number in range(200):
                writer.write(post(str(number).encode()))
            for number in range(200):
                assert await one_answer(reader) == (200, f"POST {number}".encode())


async def test_a_large_body_that_came_ahead_is_no_head() -> None:
    """Its rest arrives between two requests, where a head would be too large."""
    async with listening(Listener()) as listener:
        reader, writer = await listener.call()
        body = b"x" * LIMITS.body_bytes
        async with closing(writer):
            for _ in range(50):
                data = post(b"first") + post(body)
                writer.write(data[:200])
                assert (await one_answer(reader))[0] == 200
                writer.write(data[200:])
                assert await one_answer(reader) == (200, b"POST " + body)


def post(body: bytes) -> bytes:
    return b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body


async def test_what_a_caller_sends_ahead_is_bounded() -> None:
    limits = dataclasses.replace(LIMITS, body_bytes=1 << 17)
    one_read = 256 << 10
    ahead = GET.replace(b"/echo", b"/slow") + post(b"x" * 60_000) * 40
    async with listening(Listener(limits=limits)) as listener:
        address = listener.server.address
        assert isinstance(address, TcpAddress)
        loop = asyncio.get_running_loop()
        with socket.socket() as caller:
            caller.setblocking(False)
            await loop.sock_connect(caller, (address.host, address.port))
            tracemalloc.start()
            try:
                with contextlib.suppress(ConnectionError):
                    await loop.sock_sendall(caller, ahead)
                # What is sent may all be in the kernel before the listener has accepted anybody.
                await listener.until(lambda: listener.dropped("flood") == 1)
                await listener.quiet()
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
        # Twice one read: it exists once more while it is taken apart.
        assert peak < 2 * limits.body_bytes + limits.head_bytes + 2 * one_read


async def test_a_caller_who_leaves_takes_its_handler_along() -> None:
    async with listening(Listener()) as listener:
        _, writer = await listener.call(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        await listener.entered.wait()
        writer.transport.abort()
        async with asyncio.timeout(PATIENCE_S):
            await listener.cancelled.wait()
        await listener.quiet()
        assert listener.meter.total(names.HTTP_REQUESTS, status="499") == 1


async def test_over_the_cap_callers_are_closed_and_later_ones_served() -> None:
    async with listening(Listener()) as listener:
        callers = [await listener.call() for _ in range(LIMITS.connections + 5)]
        ends = [await everything(reader) for reader, _ in callers[LIMITS.connections :]]
        assert ends == [b""] * 5
        assert listener.dropped("too_many") == 5
        for _, writer in callers:
            writer.transport.abort()
        await listener.quiet()
        assert await still_serves(listener)


@pytest.fixture
def many_files() -> Iterator[None]:
    wanted = 11_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < wanted:
        pytest.skip(f"needs {wanted} files; this machine allows {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
async def test_a_request_is_served_promptly_among_5000_idle_connections(many_files: None) -> None:
    limits = dataclasses.replace(LIMITS, connections=6000)
    async with listening(Listener(limits=limits)) as listener:
        address = listener.server.address
        assert isinstance(address, TcpAddress)
        loop = asyncio.get_running_loop()
        callers = []
        try:
            for _ in range(5000):
                caller = socket.socket()
                caller.setblocking(False)
                callers.append(caller)
                await loop.sock_connect(caller, (address.host, address.port))
            await listener.until(lambda: listener.server.connections == 5000)
            async with asyncio.timeout(PATIENCE_S):
                assert await still_serves(listener)
        finally:
            for caller in callers:
                caller.close()
        await listener.quiet()


async def test_when_files_run_out_callers_wait_and_are_served_later() -> None:
    async with listening(Listener()) as listener:
        address = listener.server.address
        assert isinstance(address, TcpAddress)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with socket.socket() as caller:
            caller.setblocking(False)
            resource.setrlimit(resource.RLIMIT_NOFILE, (caller.fileno() + 1, hard))
            # Descriptors below may be free: fill them.
            fillers: list[int] = []
            try:
                with contextlib.suppress(OSError):
                    while True:
                        fillers.append(os.dup(caller.fileno()))
                loop = asyncio.get_running_loop()
                await loop.sock_connect(caller, (address.host, address.port))
                await listener.until(lambda: listener.dropped("accept_failed") > 0)
            finally:
                for filler in fillers:
                    os.close(filler)
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            await loop.sock_sendall(caller, GET)
            async with asyncio.timeout(PATIENCE_S):
                assert (await loop.sock_recv(caller, 12)) == b"HTTP/1.1 200"
