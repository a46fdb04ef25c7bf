"""What comes over TLS comes whole, and ends as it should."""

import asyncio
import dataclasses
import socket
import ssl
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.addresses import TcpAddress
from nemutator_common.serving.loop_sharing import LoopTurns
from nemutator_common.serving.tls_transport import shaken_hands

from tests.contract.serving.tls.pairs import answer_to, trusting, write_pair
from tests.fakes.listeners import GET, LIMITS, PATIENCE_S, Listener, closing, listening, one_answer

LARGE = 32 << 20
"""Bytes of the answer of `/large`."""


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_caller_who_reads_slowly_gets_all_of_a_large_answer(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    context = trusting()
    context.maximum_version = version
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", tls=context)
        async with closing(writer):
            # Nobody reads it yet, so that it cannot be sent on. Others are served.
            assert (await answer_to(listener, None)).startswith(b"HTTP/1.1 200 ")
            status, body = await one_answer(reader)
            assert (status, len(body)) == (200, LARGE)
            writer.write(GET)
            assert (await one_answer(reader))[0] == 200


async def test_a_caller_who_leaves_a_large_answer_unread_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(
            b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", tls=trusting()
        )
        assert await reader.read(1)
        writer.transport.abort()
        await listener.quiet()


@pytest.mark.parametrize("size", [1, 16 << 10, (16 << 10) + 1, 600 << 10])
async def test_a_body_of_any_size_comes_whole(tmp_path: Path, size: int) -> None:
    limits = dataclasses.replace(LIMITS, body_bytes=1 << 20)
    body = b"later" + bytes(range(32, 127)) * (size // 95) + b"x" * (size % 95)
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with listening(Listener(limits=limits, tls=write_pair(tmp_path, "x"))) as listener:
        reader, writer = await listener.call(tls=trusting())
        async with closing(writer):
            for _ in range(2):
                writer.write(head + body)
                assert await one_answer(reader) == (200, b"POST " + body)


async def test_the_last_answer_says_its_end(tmp_path: Path) -> None:
    """Without it a caller cannot tell an end from a cut, and takes what it has for too little."""
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        closing_get = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

        def ask() -> tuple[bytes, bytes]:
            assert isinstance(listener.server.address, TcpAddress)
            place = listener.server.address.host, listener.server.address.port
            with (
                socket.create_connection(place, timeout=PATIENCE_S) as plain,
                trusting().wrap_socket(plain, suppress_ragged_eofs=False) as secured,
            ):
                secured.sendall(closing_get)
                received = b""
                while piece := secured.recv(1 << 16):
                    received += piece
                return received, secured.recv(1)

        answer, end = await asyncio.to_thread(ask)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert end == b""
        await listener.quiet()


async def test_a_caller_who_never_hangs_up_is_left_after_a_while(tmp_path: Path) -> None:
    async with listening(Listener(tls=write_pair(tmp_path, "x"))) as listener:
        assert isinstance(listener.server.address, TcpAddress)
        place = listener.server.address.host, listener.server.address.port
        plain = await asyncio.to_thread(socket.create_connection, place, PATIENCE_S)
        with plain, await asyncio.to_thread(trusting().wrap_socket, plain) as secured:
            closing_get = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
            await asyncio.to_thread(secured.sendall, closing_get)
            await listener.until(lambda: listener.meter.total(names.HTTP_REQUESTS) == 1)
            await listener.quiet()


async def test_an_answer_does_not_wait_until_the_one_before_is_acknowledged(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = write_pair(tmp_path, "x")
    context.load_cert_chain(files.certificate, files.key)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), PATIENCE_S) as plain,
    ):
        accepted, _ = server.accept()
        accepted.setblocking(False)
        async with asyncio.TaskGroup() as tasks:
            calling = tasks.create_task(asyncio.to_thread(trusting().wrap_socket, plain))
            secured = await shaken_hands(accepted, context, lambda _: None, turns=LoopTurns(9))
        assert isinstance(secured, ssl.SSLSocket)
        with secured, calling.result():
            assert secured.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
