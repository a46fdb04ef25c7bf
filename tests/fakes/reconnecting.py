"""Hundreds of agents with the real client lose their brain, and come back to it all at once."""

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import aiohttp
import msgspec
from aiohttp import web
from nemutator_common import names
from nemutator_common.addresses import TcpAddress
from nemutator_common.secret import Secret
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer, TlsFiles
from nemutator_common.shipping.brain_connections import CONNECTIONS, KEPT_S, watched_socket
from nemutator_common.shipping.brain_http import BrainOverHttp, Proof
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.destinations import Destination, RemoteBrain
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import Link
from nemutator_common.shipping.links_over_http import ReportsOverHttp
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.shipping.streams import MemoryStream, report_stream
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import REPORTS_PATH, Report

from tests.certificates import Authority
from tests.fakes.brain_link import BrainLink
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reports import report

PATIENCE_S = 240.0

_IP_BIND_ADDRESS_NO_PORT = 24
"""Of <linux/in.h>."""

TOKEN = Secret("of an agent")
REPORT = ReportColumns().record(report())


class Brain:
    """What a brain keeps over its restarts: numbers that were stored. It listens in one life at a time."""

    def __init__(self, folder: Path, *, handshakes: int) -> None:
        authority = Authority("brain CA")
        leaf = authority.server("localhost")
        self.files = TlsFiles(folder / "tls.crt", folder / "tls.key")
        self.files.certificate.write_text(leaf.certificate)
        self.files.key.write_text(leaf.key)
        self.ca = folder / "ca.crt"
        self.ca.write_text(authority.certificate)
        self.link = BrainLink()
        self.limits = Limits(connections=20_000, handshakes=handshakes, drain_s=0.1)
        self.address = TcpAddress("127.0.0.1", 0)
        self.busy = 0
        """Of each so many requests one is answered 503."""
        self.most_handshakes = 0.0
        self.asked = 0
        self.stored = asyncio.Event()
        self.meter = MemoryMeter(changed=self._measure)

    def _measure(self) -> None:
        now = self.meter.value(names.HTTP_HANDSHAKES, listener="uplink")
        self.most_handshakes = max(now, self.most_handshakes)

    @contextlib.asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        server = HttpServer(
            process=fake_process(clock=SystemClock(), meter=self.meter),
            name="uplink",
            address=self.address,
            routes=[web.get(REPORTS_PATH, self._position), web.post(REPORTS_PATH, self._take)],
            limits=self.limits,
            tls=self.files,
        )
        await server.bind()
        assert isinstance(server.address, TcpAddress)
        self.address = server.address
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(server.run())
            try:
                yield
            finally:
                running.cancel()
        # For a life so short that run() never began.
        server.close()

    async def _position(self, request: web.Request) -> web.Response:
        query = request.query
        ack = await self.link.position(writer=query["node"], epoch=query["epoch"])
        return web.Response(body=msgspec.json.encode(ack))

    async def _take(self, request: web.Request) -> web.Response:
        self.asked += 1
        body = await request.read()
        if self.busy and self.asked % self.busy == 0:
            return web.Response(status=503, headers={"Retry-After": "0"})
        ack = await self.link.send(body)
        self.stored.set()
        if self.busy and self.asked % self.busy == 1:
            # It is stored, and nobody hears of it.
            assert request.transport is not None
            request.transport.abort()
        return web.Response(body=msgspec.json.encode(ack))

    @property
    def where(self) -> RemoteBrain:
        return RemoteBrain("localhost", self.address.port)

    async def until_each_has(self, agents: int, reports: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while sum(map(len, self.link.stored.values())) < agents * reports:
                self.stored.clear()
                await self.stored.wait()

    def counts(self) -> dict[str, list[int]]:
        """All numbers that were taken as new, of each agent, however often they were sent."""
        return self.link.stored


@dataclass
class Agents:
    """As many as there are *numbers*, each with a client, an address and dice of its own."""

    where: RemoteBrain
    ca: Path
    numbers: range
    call_s: float = 60.0
    node: Callable[[int], str] = "n{}".format
    token: Callable[[int], Secret] = lambda _: TOKEN
    through: Callable[[Link], Link] = lambda link: link
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    streams: list[MemoryStream[Report]] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        process = replace(
            fake_process(clock=SystemClock(), meter=self.meter), dice=random.SystemRandom()
        )
        ca = RereadFile(self.ca, process.clock, reason="untrusted")
        async with contextlib.AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            running = []
            for number in self.numbers:
                client = BrainOverHttp(
                    self.where,
                    proof=Proof(partial(self.token, number)),
                    ca=ca,
                    connector=from_address(f"127.1.{number >> 8}.{number & 255}"),
                )
                await stack.enter_async_context(client)
                stream = report_stream(
                    process,
                    self.through(ReportsOverHttp(client)),
                    Buffer(most=100, most_bytes=1 << 20),
                    node=self.node(number),
                    epoch=f"e{number}",
                    call_s=self.call_s,
                )
                self.streams.append(stream)
                running.append(tasks.create_task(stream.run()))
            try:
                yield
            finally:
                for task in running:
                    task.cancel()

    def report(self, record: bytes = REPORT) -> None:
        for stream in self.streams:
            stream.put_encoded(record, source="")


def from_address(local: str) -> Callable[[Destination], aiohttp.BaseConnector]:
    """Connections of a machine whose own address *local* is, as each agent of a cluster has one: who listens has addresses
    take turns, and callers of one address wait for each other."""

    def made(address: aiohttp.AddrInfoType) -> socket.socket:
        opened = watched_socket(address)
        opened.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
        opened.bind((local, 0))
        return opened

    return lambda _: aiohttp.TCPConnector(
        limit=CONNECTIONS, keepalive_timeout=KEPT_S, socket_factory=made
    )
