"""What every Link does: the fake, and HTTP against a server that follows wire.py."""

import contextlib
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from nemutator_agent.uplink.brain_http import BrainOverHttp
from nemutator_agent.uplink.buffer import Buffer, encode_batch
from nemutator_agent.uplink.link import BatchRefusedError, Link, LinkUnavailableError
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from nemutator_common.serving.addresses import Address, TcpAddress, UnixAddress
from nemutator_common.wire import REPORTS_PATH, Ack

from tests.fakes.brain_link import BrainLink
from tests.fakes.reports import report

TOKEN = Secret("the-token")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def batch(*, reports: int = 1) -> bytes:
    buffer = Buffer(most=1000, most_bytes=8 << 20)
    for number in range(reports):
        buffer.put(report(number))
    return encode_batch("n", "e", buffer.first(most=1000, most_bytes=8 << 20))


class Server:
    """Stores through the fake, so that both sides of the suite are judged by the same memory."""

    def __init__(self) -> None:
        self.brain = BrainLink()
        self.encodings: list[str | None] = []
        self.answer: Handler | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.answer is not None:
            return await self.answer(request)
        if request.headers.get("Authorization") != f"Bearer {TOKEN.reveal()}":
            return web.json_response({"error": "who are you"}, status=401)
        if request.method == "GET":
            ack = await self.brain.position(
                node=request.query["node"], epoch=request.query["epoch"]
            )
        else:
            self.encodings.append(request.headers.get("Content-Encoding"))
            ack = await self.brain.send(await request.read())
        return web.Response(body=msgspec.json.encode(ack))

    @contextlib.asynccontextmanager
    async def running(self, folder: Path, *, tcp: bool = False) -> AsyncIterator[Address]:
        app = web.Application(client_max_size=16 << 20)
        app.router.add_route("*", REPORTS_PATH, self.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            if tcp:
                await web.TCPSite(runner, "127.0.0.1", 0).start()
                host, port = runner.addresses[0]
                yield TcpAddress(host, port)
            else:
                path = folder / "brain.sock"
                await web.UnixSite(runner, str(path)).start()
                yield UnixAddress(path)
        finally:
            await runner.cleanup()


@contextlib.asynccontextmanager
async def http(
    folder: Path, *, server: Server | None = None, tcp: bool = False, token: Secret = TOKEN
) -> AsyncIterator[BrainOverHttp]:
    async with (
        (server or Server()).running(folder, tcp=tcp) as address,
        BrainOverHttp(address, token=lambda: token) as link,
    ):
        yield link


@pytest.fixture(params=["fake", "unix", "tcp"])
async def link(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Link]:
    if request.param == "fake":
        yield BrainLink()
        return
    async with http(tmp_path, tcp=request.param == "tcp") as over_http:
        yield over_http


async def test_of_an_epoch_that_it_does_not_know_nothing_is_stored(link: Link) -> None:
    assert await link.position(node="n", epoch="e") == Ack("e", 0)


async def test_what_was_sent_is_stored_and_remembered(link: Link) -> None:
    assert await link.send(batch(reports=3)) == Ack("e", 3)
    assert await link.position(node="n", epoch="e") == Ack("e", 3)
    assert await link.position(node="n", epoch="other") == Ack("other", 0)


async def test_sending_again_changes_nothing(link: Link) -> None:
    await link.send(batch(reports=2))
    assert await link.send(batch(reports=2)) == Ack("e", 2)


@pytest.mark.parametrize("tcp", [False, True])
async def test_only_what_leaves_the_machine_is_compressed(tmp_path: Path, tcp: bool) -> None:
    server = Server()
    async with http(tmp_path, server=server, tcp=tcp) as over_http:
        await over_http.send(batch())
        await over_http.send(batch(reports=50))
    # aiohttp's server has undone it: the batch arrived whole.
    assert len(server.brain.batches[1].envelopes) == 50
    assert server.encodings == ([None, "gzip"] if tcp else [None, None])


def answering(status: int, headers: dict[str, str] | None = None, body: bytes = b"{}") -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers=headers, body=body)

    return answer


@pytest.mark.parametrize(("status", "reason"), [(400, "malformed"), (413, "too_large")])
async def test_what_can_never_be_taken_is_refused(tmp_path: Path, status: int, reason: str) -> None:
    server = Server()
    server.answer = answering(status, body=b'{"error": "seq: expected a number above 3"}')
    async with http(tmp_path, server=server) as over_http:
        with pytest.raises(BatchRefusedError, match="seq: expected") as refusal:
            await over_http.send(batch())
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("answer", "reason", "retry_after_s"),
    [
        (answering(401), "unauthorised", 0),
        (answering(403), "unauthorised", 0),
        (answering(500), "failed", 0),
        (answering(302, {"Location": "http://127.0.0.1:1/"}), "failed", 0),
        (answering(404, body=b"\xff not JSON"), "failed", 0),
        (answering(503, {"Retry-After": "7"}), "busy", 7),
        (answering(429, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}), "busy", 0),
        (answering(429, {"Retry-After": "9" * 50}), "busy", 0),
        (answering(200, body=b"[1]"), "nonsense", 0),
        (answering(200, body=b'{"epoch": "e"}'), "nonsense", 0),
        (answering(200, body=b"[" * 60_000), "nonsense", 0),
        (answering(200, body=b" " * 100_000), "nonsense", 0),
        (
            answering(200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * (32 << 20))),
            "nonsense",
            0,
        ),
        (answering(200, {"Content-Encoding": "gzip"}, b"no gzip"), "connection", 0),
    ],
)
async def test_every_other_answer_is_tried_again_later(
    tmp_path: Path, answer: Handler, reason: str, retry_after_s: float
) -> None:
    server = Server()
    server.answer = answer
    async with http(tmp_path, server=server) as over_http:
        with pytest.raises(LinkUnavailableError) as failure:
            await over_http.send(batch())
    assert (failure.value.reason, failure.value.retry_after_s) == (reason, retry_after_s)


async def test_a_wrong_token_is_said_without_showing_it(tmp_path: Path) -> None:
    async with http(tmp_path, token=Secret("wrong")) as over_http:
        with pytest.raises(LinkUnavailableError) as failure:
            await over_http.position(node="n", epoch="e")
    assert failure.value.reason == "unauthorised"
    assert "wrong" not in str(failure.value)


async def test_without_a_brain_the_address_is_named(tmp_path: Path) -> None:
    address = UnixAddress(tmp_path / "nobody.sock")
    async with BrainOverHttp(address, token=lambda: TOKEN) as over_http:
        with pytest.raises(LinkUnavailableError, match=r"nobody\.sock") as failure:
            await over_http.send(batch())
    assert failure.value.reason == "connection"


async def test_without_a_token_nothing_is_sent(tmp_path: Path) -> None:
    def no_token() -> Secret:
        raise OperatorError("no link-token", remedy="x", code=ExitCode.DATA_DIRECTORY)

    async with BrainOverHttp(UnixAddress(tmp_path / "x.sock"), token=no_token) as over_http:
        with pytest.raises(LinkUnavailableError) as failure:
            await over_http.send(batch())
    assert failure.value.reason == "token"


async def test_the_token_is_read_for_each_call(tmp_path: Path) -> None:
    tokens = iter([Secret("old"), TOKEN])
    async with (
        Server().running(tmp_path) as address,
        BrainOverHttp(address, token=lambda: next(tokens)) as over_http,
    ):
        with pytest.raises(LinkUnavailableError):
            await over_http.send(batch())
        assert await over_http.send(batch()) == Ack("e", 1)
