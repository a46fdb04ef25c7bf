"""What every Link does: the fake, and HTTP against a server that follows wire.py."""

import contextlib
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from nemutator_common.shipping.batches import encode_reports
from nemutator_common.shipping.brain_http import BrainOverHttp, Proof
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.shipping.destinations import Destination, LocalBrain, RemoteBrain
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import BatchRefusedError, Link, LinkUnavailableError
from nemutator_common.shipping.links_over_http import (
    DocumentsOverHttp,
    ProfilesOverHttp,
    ReportsOverHttp,
    StreamOverHttp,
)
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import REPORTS_PATH, Ack, ProfileOutcome, ProfileRequest, ProfileTarget

from tests.certificates import Authority
from tests.fakes.brain_link import BrainLink
from tests.fakes.clocks import ManualClock
from tests.fakes.reports import report

TOKEN = Secret("the-token")
AUTHORITY = Authority("brain CA")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def batch(*, reports: int = 1) -> bytes:
    buffer = Buffer(most=1000, most_bytes=8 << 20)
    for number in range(reports):
        buffer.put(msgspec.json.encode(report(number)))
    return encode_reports("n", "e", buffer.first(most=1000, most_bytes=8 << 20))


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
                writer=request.query["node"], epoch=request.query["epoch"]
            )
        else:
            self.encodings.append(request.headers.get("Content-Encoding"))
            ack = await self.brain.send(await request.read())
        return web.Response(body=msgspec.json.encode(ack))

    @contextlib.asynccontextmanager
    async def running(self, folder: Path, *, tls: bool = False) -> AsyncIterator[Destination]:
        app = web.Application(client_max_size=16 << 20)
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, handler_cancellation=True)
        await runner.setup()
        try:
            if tls:
                await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_tls(folder)).start()
                # A name: addresses of the cluster are not written into certificates.
                yield RemoteBrain("localhost", runner.addresses[0][1])
            else:
                path = folder / "brain.sock"
                await web.UnixSite(runner, str(path)).start()
                yield LocalBrain(path)
        finally:
            await runner.cleanup()


def _tls(folder: Path) -> ssl.SSLContext:
    (folder / "brain.pem").write_text(AUTHORITY.server("localhost").both)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "brain.pem")
    return context


def trusted(folder: Path, authority: Authority = AUTHORITY) -> RereadFile:
    path = folder / "ca.crt"
    path.write_text(authority.certificate)
    return RereadFile(path, SystemClock(), reason="untrusted")


@contextlib.asynccontextmanager
async def calling(
    folder: Path, *, server: Server | None = None, tls: bool = False, token: Secret = TOKEN
) -> AsyncIterator[BrainOverHttp]:
    async with (
        (server or Server()).running(folder, tls=tls) as where,
        BrainOverHttp(
            where, proof=Proof(lambda: token), ca=trusted(folder) if tls else None
        ) as brain,
    ):
        yield brain


@contextlib.asynccontextmanager
async def http(
    folder: Path, *, server: Server | None = None, tls: bool = False, token: Secret = TOKEN
) -> AsyncIterator[ReportsOverHttp]:
    async with calling(folder, server=server, tls=tls, token=token) as brain:
        yield ReportsOverHttp(brain)


@pytest.fixture(params=["fake", "unix", "tls"])
async def link(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Link]:
    if request.param == "fake":
        yield BrainLink()
        return
    async with http(tmp_path, tls=request.param == "tls") as over_http:
        yield over_http


async def test_of_an_epoch_that_it_does_not_know_nothing_is_stored(link: Link) -> None:
    assert await link.position(writer="n", epoch="e") == Ack("e", 0)


async def test_what_was_sent_is_stored_and_remembered(link: Link) -> None:
    assert await link.send(batch(reports=3)) == Ack("e", 3)
    assert await link.position(writer="n", epoch="e") == Ack("e", 3)
    assert await link.position(writer="n", epoch="other") == Ack("other", 0)


async def test_sending_again_changes_nothing(link: Link) -> None:
    await link.send(batch(reports=2))
    assert await link.send(batch(reports=2)) == Ack("e", 2)


@pytest.mark.parametrize("tls", [False, True])
async def test_only_what_leaves_the_machine_is_compressed(tmp_path: Path, tls: bool) -> None:
    server = Server()
    async with http(tmp_path, server=server, tls=tls) as over_http:
        await over_http.send(batch())
        await over_http.send(batch(reports=50))
    # aiohttp's server has undone it: the batch arrived whole.
    assert len(server.brain.batches[1].envelopes) == 50
    assert server.encodings == ([None, "gzip"] if tls else [None, None])


async def test_a_large_batch_goes_out_in_pieces(tmp_path: Path) -> None:
    # aiohttp warns of a megabyte in one piece, and here a warning is a failure.
    large = batch(reports=1) + b" " * (3 << 20)
    async with http(tmp_path) as over_http:
        assert await over_http.send(large) == Ack("e", 1)


def answering(status: int, headers: dict[str, str] | None = None, body: bytes = b"{}") -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers=headers, body=body)

    return answer


@pytest.mark.parametrize(("status", "reason"), [(400, "malformed"), (413, "too_large")])
async def test_what_can_never_be_taken_is_refused(tmp_path: Path, status: int, reason: str) -> None:
    server = Server()
    said = b'{"error": "seq: expected a number above 3", "remedy": "count on"}'
    server.answer = answering(status, body=said)
    async with http(tmp_path, server=server) as over_http:
        with pytest.raises(BatchRefusedError, match=r"seq: expected .* 3; count on") as refusal:
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
        (answering(200, body=b"[1]"), "invalid", 0),
        (answering(200, body=b'{"epoch": "e"}'), "invalid", 0),
        (answering(200, body=b"[" * 60_000), "invalid", 0),
        (answering(200, body=b" " * 100_000), "invalid", 0),
        (
            answering(200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * (32 << 20))),
            "invalid",
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
            await over_http.position(writer="n", epoch="e")
    assert failure.value.reason == "unauthorised"
    assert "wrong" not in str(failure.value)


async def test_without_a_brain_the_address_is_named(tmp_path: Path) -> None:
    where = LocalBrain(tmp_path / "nobody.sock")
    async with BrainOverHttp(where, proof=Proof(lambda: TOKEN)) as brain:
        with pytest.raises(LinkUnavailableError, match=r"nobody\.sock") as failure:
            await ReportsOverHttp(brain).send(batch())
    assert failure.value.reason == "connection"


async def test_without_a_token_nothing_is_sent(tmp_path: Path) -> None:
    def no_token() -> Secret:
        raise OperatorError("no link-token", remedy="x", code=ExitCode.DATA_DIRECTORY)

    async with BrainOverHttp(LocalBrain(tmp_path / "x.sock"), proof=Proof(no_token)) as brain:
        with pytest.raises(LinkUnavailableError) as failure:
            await ReportsOverHttp(brain).send(batch())
    assert failure.value.reason == "token"


async def test_the_token_is_read_for_each_call(tmp_path: Path) -> None:
    tokens = iter([Secret("old"), TOKEN])
    async with (
        Server().running(tmp_path) as where,
        BrainOverHttp(where, proof=Proof(lambda: next(tokens))) as brain,
    ):
        with pytest.raises(LinkUnavailableError):
            await ReportsOverHttp(brain).send(batch())
        assert await ReportsOverHttp(brain).send(batch()) == Ack("e", 1)


async def test_a_refused_token_is_read_again_at_once(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old\n")
    token = RereadFile(tmp_path / "token", ManualClock(), reason="token")
    proof = Proof(lambda: Secret(token.text()), token.invalidate)
    async with Server().running(tmp_path) as where, BrainOverHttp(where, proof=proof) as brain:
        with pytest.raises(LinkUnavailableError):
            await ReportsOverHttp(brain).send(batch())
        (tmp_path / "token").write_text(TOKEN.reveal())
        assert await ReportsOverHttp(brain).send(batch()) == Ack("e", 1)


async def test_a_token_is_read_again_each_minute_and_the_old_one_outlives_its_file(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    file = RereadFile(tmp_path / "token", clock, reason="token")
    with pytest.raises(LinkUnavailableError, match="No such file") as failure:
        file.text()
    assert failure.value.reason == "token"
    (tmp_path / "token").write_text("first\n")
    assert file.text() == "first"
    (tmp_path / "token").write_text("second")
    await clock.advance(59)
    assert file.text() == "first"
    await clock.advance(1)
    assert file.text() == "second"
    (tmp_path / "token").unlink()
    await clock.advance(60)
    assert file.text() == "second"


async def test_a_brain_of_another_authority_gets_no_token(tmp_path: Path) -> None:
    server = Server()
    async with server.running(tmp_path, tls=True) as where:
        ca = trusted(tmp_path, Authority("stranger"))
        async with BrainOverHttp(where, proof=Proof(lambda: TOKEN), ca=ca) as brain:
            with pytest.raises(LinkUnavailableError) as failure:
                await ReportsOverHttp(brain).send(batch())
            assert failure.value.reason == "untrusted"
            assert server.brain.batches == []
            trusted(tmp_path)
            assert await ReportsOverHttp(brain).send(batch()) == Ack("e", 1)


async def test_a_ca_file_without_a_certificate_is_said(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("no certificate")
    ca = RereadFile(tmp_path / "ca.crt", ManualClock(), reason="untrusted")
    where = RemoteBrain("localhost", 1)
    async with BrainOverHttp(where, proof=Proof(lambda: TOKEN), ca=ca) as brain:
        with pytest.raises(LinkUnavailableError, match="no certificate") as failure:
            await ReportsOverHttp(brain).send(batch())
    assert failure.value.reason == "untrusted"


async def test_records_go_to_the_path_of_their_stream(tmp_path: Path) -> None:
    server, asked = Server(), []

    async def take(request: web.Request) -> web.StreamResponse:
        asked.append(f"{request.method} {request.path_qs}")
        return web.Response(body=b'{"epoch": "e", "seq": 2}')

    server.answer = take
    async with calling(tmp_path, server=server) as brain:
        grants = StreamOverHttp(brain, "grants")
        assert await grants.position(writer="n", epoch="e") == Ack("e", 2)
        assert await grants.send(b"{}") == Ack("e", 2)
    path = "/uplink/v1/streams/grants"
    assert asked == [f"GET {path}?writer=n&epoch=e", f"POST {path}"]


async def test_profiles_are_asked_for_and_reported(tmp_path: Path) -> None:
    server, reported = Server(), []
    wanted = ProfileRequest(id="p1", target=ProfileTarget("pid", "1"), seconds=30, hz=99)

    async def take(request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            assert request.path_qs == "/uplink/v1/profile-requests?node=n&wait_s=25"
            return web.Response(body=msgspec.json.encode({"requests": [wanted]}))
        reported.append(msgspec.json.decode(await request.read(), type=ProfileOutcome))
        return web.Response(status=204)

    server.answer = take
    outcome = ProfileOutcome(id="p1", node="n", state="done", pprof=b"\0\1")
    async with calling(tmp_path, server=server) as brain:
        profiles = ProfilesOverHttp(brain=brain, node="n")
        assert await profiles.requests(25) == (wanted,)
        await profiles.report(outcome)
    assert reported == [outcome]


async def test_a_document_that_did_not_change_is_not_sent_again(tmp_path: Path) -> None:
    server, statuses = Server(), []

    async def tell(request: web.Request) -> web.StreamResponse:
        known = request.headers.get("If-None-Match") == '"1"'
        statuses.append(304 if known else 200)
        return web.Response(
            status=statuses[-1], body=None if known else b"advice", headers={"ETag": '"1"'}
        )

    server.answer = tell
    async with calling(tmp_path, server=server) as brain:
        documents = DocumentsOverHttp(brain)
        assert await documents.get("/uplink/v1/advice") == b"advice"
        assert await documents.get("/uplink/v1/advice") == b"advice"
    assert statuses == [200, 304]


async def test_a_call_has_a_deadline(tmp_path: Path) -> None:
    server = Server()
    server.brain.silent = True
    async with calling(tmp_path, server=server) as brain:
        with pytest.raises(LinkUnavailableError) as failure:
            await brain.call("GET", f"{REPORTS_PATH}?node=n&epoch=e", deadline_s=0.01)
    assert failure.value.reason == "timeout"
