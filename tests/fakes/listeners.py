"""A real listener with small limits, and callers who speak bytes to it."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import uvloop
from aiohttp import web
from nemutator_common import names
from nemutator_common.addresses import Address, TcpAddress
from nemutator_common.clocks import Clock
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.readiness import Readiness
from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import ALL_OPERATIONS
from nemutator_common.serving.plain_path import PlainAnswer
from nemutator_common.serving.plain_posts import PlainPost
from nemutator_common.serving.plain_requests import PlainRequest
from nemutator_common.serving.responses import ErrorDetails
from nemutator_common.serving.server import HttpServer, TlsFiles
from nemutator_common.serving.token_requests import TokenRequest
from nemutator_common.system_clock import SystemClock

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

PATIENCE_S = 60.0
"""A test that waits longer has failed; on a good day nothing waits a hundredth of it."""

LIMITS = Limits(
    head_bytes=2048,
    headers=20,
    body_bytes=4096,
    connections=50,
    handshake_s=PATIENCE_S,
    head_s=PATIENCE_S,
    request_s=PATIENCE_S,
    idle_s=PATIENCE_S,
    ending_s=0.1,
    drain_s=PATIENCE_S,
)
"""Small in bytes, patient in time: on a busy machine nothing may be late but what a test is about."""

HASTE_S = 0.2
"""For the one deadline that a test waits for."""

EVENT_LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
"""Python's own, and ours in production."""

GET = b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"


class Listener:
    """A server under test, what it counted, and a handler that waits until it is told."""

    answers_plainly: ClassVar[bool] = True
    """Whether plain requests and posts for `/echo` are answered at once. The answers are the same."""

    answers_later: ClassVar[bool] = False
    """Whether requests with a token are answered without the parser. The answers are the same."""

    few_callers: ClassVar[bool] = False
    """Whether TLS goes through buffers of ours. Callers cannot tell."""

    def __init__(
        self,
        address: Address = TcpAddress("127.0.0.1", 0),  # noqa: B008 - frozen
        *,
        limits: Limits = LIMITS,
        tls: TlsFiles | None = None,
        clock: Clock | None = None,
        middlewares: Iterable[Any] = (),
        error_details: ErrorDetails = MappingProxyType({}),
    ) -> None:
        self._counted = asyncio.Event()
        self.meter = MemoryMeter(changed=self._counted.set)
        self.readiness = Readiness()
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.server = HttpServer(
            process=fake_process(
                clock=clock or SystemClock(), meter=self.meter, readiness=self.readiness
            ),
            name="test",
            address=address,
            routes=[
                web.get("/echo", self._echo),
                web.post("/echo", self._echo),
                web.post("/ignore", self._ignore),
                web.get("/slow", self._slow),
                web.get("/large", self._large),
                web.get("/operator/{code}", self._operator),
                web.get("/defect", self._defect),
                web.get("/half", self._half),
                web.get("/unsendable", self._unsendable),
            ],
            middlewares=middlewares,
            operations=ALL_OPERATIONS,
            limits=limits,
            tls=tls,
            few_callers=self.few_callers,
            error_details=error_details,
            plain=self._plain if self.answers_plainly else None,
            posts=self._post if self.answers_plainly and not self.answers_later else None,
            later=self._later if self.answers_later else None,
        )
        self.answered_plainly = self.answered_later = 0

    def _plain(self, request: PlainRequest, _: AcceptedPeer | None) -> PlainAnswer | None:
        match request.path:
            case "/echo":
                self.answered_plainly += 1
                return PlainAnswer(b"GET ", "text/plain; charset=utf-8")
            case "/defect":
                raise KeyError("a detail for nobody")
            case _:
                return None

    def _post(self, post: PlainPost) -> PlainAnswer | None:
        if post.path != "/echo" or post.body.startswith(b"later"):
            return None
        self.answered_plainly += 1
        return PlainAnswer(b"POST " + post.body, "text/plain; charset=utf-8")

    def _later(self, request: TokenRequest) -> Awaitable[web.Response] | None:
        head = request.head
        made: Mapping[str, Callable[[], Awaitable[web.Response]]] = {
            "/echo": lambda: self._echoed(head.method, request.body.decode()),
            "/slow": self._slowly,
            "/defect": self._defective,
            "/operator/NO_SPACE": lambda: self._full("NO_SPACE"),
            "/unsendable": self._never_sent,
        }
        if head.path not in made:
            return None
        self.answered_later += 1
        return made[head.path]()

    async def _echoed(self, method: str, text: str) -> web.Response:
        return web.Response(text=f"{method} {text}")

    def dropped(self, reason: str) -> float:
        return self.meter.total(names.HTTP_CONNECTIONS_DROPPED, reason=reason)

    async def call(
        self, data: bytes = b"", *, tls: ssl.SSLContext | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address = self.server.address
        if isinstance(address, TcpAddress):
            reader, writer = await asyncio.open_connection(address.host, address.port, ssl=tls)
        else:
            reader, writer = await asyncio.open_unix_connection(address.path)
        writer.write(data)
        return reader, writer

    async def ask(self, data: bytes) -> bytes:
        """All that is answered to *data* until the listener closes."""
        reader, writer = await self.call(data)
        async with closing(writer):
            return await everything(reader)

    async def quiet(self) -> None:
        """Wait until no connection is left."""
        await self.until(lambda: self.server.connections == 0)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something that this listener counts has made it *true*."""
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                self._counted.clear()
                await self._counted.wait()

    async def _echo(self, request: web.Request) -> web.Response:
        return await self._echoed(request.method, await request.text())

    async def _ignore(self, _: web.Request) -> web.Response:
        return web.Response(text="whatever")

    async def _slow(self, _: web.Request) -> web.Response:
        return await self._slowly()

    async def _slowly(self) -> web.Response:
        self.entered.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return web.Response(text="at last")

    async def _large(self, _: web.Request) -> web.Response:
        return web.Response(body=b"x" * (32 << 20))

    async def _operator(self, request: web.Request) -> web.Response:
        return await self._full(request.match_info["code"])

    async def _full(self, code: str) -> web.Response:
        raise OperatorError("the disk is full", remedy="make room", code=ExitCode[code])

    async def _defect(self, _: web.Request) -> web.Response:
        return await self._defective()

    async def _defective(self) -> web.Response:
        raise KeyError("a detail for nobody")

    async def _half(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"half")
        raise KeyError("too late")

    async def _unsendable(self, _: web.Request) -> web.Response:
        return await self._never_sent()

    async def _never_sent(self) -> web.Response:
        return web.Response(headers={"X-Name": "two\r\nlines"})


@contextlib.asynccontextmanager
async def listening(listener: Listener) -> AsyncIterator[Listener]:
    """Runs *listener*; afterwards nothing may be left of it."""
    await listener.server.bind()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(listener.server.run())
        try:
            yield listener
        finally:
            running.cancel()
    # For a test so short that run() never began.
    listener.server.close()
    assert listener.server.connections == 0
    assert listener.meter.value(names.HTTP_CONNECTIONS, listener="test") == 0


@contextlib.asynccontextmanager
async def closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    try:
        yield
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def everything(reader: asyncio.StreamReader) -> bytes:
    """What comes until the other end closes; a reset is an end like any other."""
    received = bytearray()
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(1 << 16):
                received += chunk
    return bytes(received)


async def one_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of one answer with a Content-Length."""
    async with asyncio.timeout(PATIENCE_S):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        return int(head.split(b" ", 2)[1]), await reader.readexactly(length)
