"""A node that sends many bodies and ends none, and nodes that all send at once: memory is bounded."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import ClassVar

import pytest
from aiohttp import web
from nemutator_common import names
from nemutator_common.addresses import TcpAddress
from nemutator_common.serving.server import HttpServer
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import REPORTS_PATH
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.gates import Gate, ProcessRule
from nemutator_controller.access.later_calls import LaterCalls
from nemutator_controller.access.routes import DeclaredRoutes, LaterCall, served_to
from nemutator_controller.answers import answer
from nemutator_controller.ingest.bodies import BoundedBodies, body_of
from nemutator_controller.ingest.body_room import BodyRoom

from tests.fakes.listeners import LIMITS, PATIENCE_S, closing, one_answer
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

KIB = 1 << 10


@pytest.fixture(autouse=True, params=[True, False], ids=["later", "parsed"])
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    BodyDoor.answers_later = request.param
    yield
    BodyDoor.answers_later = False


class NodesByName:
    """A `Callers` that believes which node somebody is."""

    async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
        return Caller("agent", (authorization or "").removeprefix("Bearer "))


class BodyDoor:
    """The listener of the uplink, with little room."""

    answers_later: ClassVar[bool] = False

    def __init__(self, *, total: int, each: int) -> None:
        self._counted = asyncio.Event()
        self.meter = MemoryMeter(changed=self._counted.set)
        self.room = BodyRoom(total=total, each=each)
        routes = [served_to({"agent"}, web.post(REPORTS_PATH, self._take), later=self._take_later)]
        rule = ProcessRule(NodesByName(), DeclaredRoutes(routes), "say who you are")
        gate = Gate(rule=rule, refuse=lambda _, refused: refused.as_json())
        bodies = BoundedBodies(self.meter, self.room)
        self.server = HttpServer(
            process=fake_process(clock=SystemClock(), meter=self.meter),
            name="uplink",
            address=TcpAddress("127.0.0.1", 0),
            routes=routes,
            middlewares=[gate.admit, bodies.bound],
            later=LaterCalls(rule, routes, bodies.bound_whole) if self.answers_later else None,
            limits=LIMITS,
        )

    async def _take(self, request: web.Request) -> web.Response:
        return answer({"size": len(await body_of(request))})

    async def _take_later(self, call: LaterCall) -> web.Response:
        return answer({"size": len(call.body)})

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator["BodyDoor"]:
        await self.server.bind()
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.server.run())
            try:
                yield self
            finally:
                running.cancel()

    async def post(
        self, node: str, body: bytes, *, promised: int | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address = self.server.address
        assert isinstance(address, TcpAddress)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        size = len(body) if promised is None else promised
        head = f"POST {REPORTS_PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {node}\r\n"
        writer.write(f"{head}Content-Length: {size}\r\n\r\n".encode() + body)
        return reader, writer

    async def report(self, node: str) -> int:
        reader, writer = await self.post(node, b"x" * KIB)
        async with closing(writer):
            return (await one_answer(reader))[0]

    def refused(self) -> float:
        return self.meter.value(names.BATCHES_REFUSED, reason="memory")

    async def until_refused(self, times: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self.refused() < times:
                self._counted.clear()
                await self._counted.wait()


async def test_a_node_that_ends_no_body_holds_its_part_and_nothing_of_others() -> None:
    async with (
        BodyDoor(total=64 * KIB, each=8 * KIB).open() as door,
        contextlib.AsyncExitStack() as on,
    ):
        for _ in range(12):
            _, writer = await door.post("hostile", b"x" * (3 * KIB), promised=4 * KIB)
            await on.enter_async_context(closing(writer))
        await door.until_refused(10)
        for number in range(20):
            assert await door.report(f"n{number}") == 200
        assert door.refused() == 10
        assert await door.report("hostile") == 200


async def test_who_is_refused_for_lack_of_memory_is_told_to_come_again() -> None:
    async with (
        BodyDoor(total=4 * KIB, each=4 * KIB).open() as door,
        contextlib.AsyncExitStack() as on,
    ):
        _, writer = await door.post("slow", b"x" * (3 * KIB), promised=4 * KIB)
        await on.enter_async_context(closing(writer))
        # What the slow one has sent has arrived before the other one's second kilobyte.
        head = b""
        async with asyncio.timeout(PATIENCE_S):
            while b" 503 " not in head:
                reader, other = await door.post("n1", b"x" * (2 * KIB))
                async with closing(other):
                    head = await reader.readuntil(b"\r\n\r\n")
        assert b"Retry-After" in head
        writer.write(b"x" * KIB)
        await writer.drain()
        async with asyncio.timeout(PATIENCE_S):
            while await door.report("n1") != 200:
                pass


async def test_a_node_that_hangs_up_gives_back_what_its_bodies_held() -> None:
    async with BodyDoor(total=8 * KIB, each=8 * KIB).open() as door:
        async with contextlib.AsyncExitStack() as on:
            for _ in range(5):
                _, writer = await door.post("hostile", b"x" * (3 * KIB), promised=4 * KIB)
                await on.enter_async_context(closing(writer))
            await door.until_refused(3)
        async with asyncio.timeout(PATIENCE_S):
            while await door.report("n1") != 200:
                pass
