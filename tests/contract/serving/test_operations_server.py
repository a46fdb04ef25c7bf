"""What scrapers and probes may expect of the listener that serves the operations alone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.addresses import Address, TcpAddress, UnixAddress
from nemutator_common.process import Process
from nemutator_common.readiness import Readiness
from nemutator_common.serving.metrics import Metrics
from nemutator_common.serving.operations_server import (
    LARGEST_HEAD,
    MOST_CONNECTIONS,
    OperationsServer,
    add_metrics_listener,
)
from nemutator_common.supervising import Supervisor

from tests.fakes.listeners import HASTE_S, PATIENCE_S, closing, everything
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

LOOPBACK = TcpAddress("127.0.0.1", 0)


@contextlib.asynccontextmanager
async def serving(
    process: Process, address: Address = LOOPBACK, *, request_s: float = PATIENCE_S
) -> AsyncIterator[OperationsServer]:
    server = OperationsServer(process=process, address=address, request_s=request_s)
    server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(server.run())
        try:
            yield server
        finally:
            running.cancel()
    server.close()


async def call(server: OperationsServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(server.address, TcpAddress):
        return await asyncio.open_connection(server.address.host, server.address.port)
    return await asyncio.open_unix_connection(server.address.path)


async def ask(server: OperationsServer, request: bytes) -> tuple[int, bytes]:
    """Status and body; 0 when the listener closed without a response."""
    reader, writer = await call(server)
    async with closing(writer):
        writer.write(request)
        head, _, body = (await everything(reader)).partition(b"\r\n\r\n")
    return (int(head.split(b" ")[1]) if head else 0), body


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


async def test_the_three_operations_are_answered_and_nothing_else(tmp_path: Path) -> None:
    process = fake_process(meter=Metrics())
    for address in (LOOPBACK, UnixAddress(tmp_path / "s")):
        async with serving(process, address) as server:
            assert await ask(server, get("/healthz")) == (200, b"ok\n")
            assert await ask(server, get("/readyz?verbose")) == (200, b"ready\n")
            status, shown = await ask(server, get("/metrics"))
            assert (status, b"process_resident_memory_bytes" in shown) == (200, True)
            assert (await ask(server, get("/api/v1/topology")))[0] == 404
            assert (await ask(server, b"POST /metrics HTTP/1.1\r\n\r\n"))[0] == 405


async def test_what_is_not_ready_says_why() -> None:
    readiness = Readiness()
    readiness.fail("uplink", "no answer yet")
    async with serving(fake_process(readiness=readiness)) as server:
        assert await ask(server, get("/readyz")) == (503, b"uplink: no answer yet\n")
        assert (await ask(server, get("/healthz")))[0] == 200


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"\r\n\r\n", 400),
        (b"GET /metrics\r\n\r\n", 400),
        (b"GET  /metrics HTTP/1.1\r\n\r\n", 400),
        (b"GET /metrics SPDY/3\r\n\r\n", 400),
        (b"\xff\x00 \xff \xff\r\n\r\n", 400),
        (b"GET /" + b"x" * (LARGEST_HEAD - len(b"GET /")), 431),
    ],
)
async def test_what_is_no_request_is_refused_and_counted(request_: bytes, status: int) -> None:
    meter = MemoryMeter()
    async with serving(fake_process(meter=meter)) as server:
        assert (await ask(server, request_))[0] == status
        assert meter.total(names.HTTP_CONNECTIONS_DROPPED) == 1
        assert (await ask(server, get("/healthz")))[0] == 200


async def test_a_head_may_come_in_pieces() -> None:
    async with serving(fake_process()) as server:
        reader, writer = await call(server)
        async with closing(writer):
            for piece in (b"GET /healthz HT", b"TP/1.1\r\n", b"\r\n"):
                writer.write(piece)
                await writer.drain()
            assert (await everything(reader)).endswith(b"ok\n")


async def test_a_silent_caller_is_dropped() -> None:
    meter = MemoryMeter()
    async with serving(fake_process(meter=meter), request_s=HASTE_S) as server:
        assert await ask(server, b"GET /") == (0, b"")
        assert meter.total(names.HTTP_CONNECTIONS_DROPPED, reason="request_deadline") == 1
        assert meter.total(names.HTTP_CONNECTIONS) == 0


async def test_more_callers_than_a_few_find_no_room() -> None:
    meter = MemoryMeter()
    async with (
        serving(fake_process(meter=meter)) as server,
        contextlib.AsyncExitStack() as stack,
    ):
        for _ in range(MOST_CONNECTIONS):
            _, writer = await call(server)
            await stack.enter_async_context(closing(writer))
        assert await ask(server, get("/healthz")) == (0, b"")
        assert meter.total(names.HTTP_CONNECTIONS_DROPPED, reason="too_many") == 1


async def test_without_the_setting_there_is_no_listener() -> None:
    supervisor = Supervisor()
    add_metrics_listener(fake_process(supervisor=supervisor), "")
    supervisor.add("serve metrics", asyncio.Event().wait)  # type: ignore[arg-type]
