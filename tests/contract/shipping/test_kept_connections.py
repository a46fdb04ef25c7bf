"""How many connections the real client makes, counted by a real server."""

import asyncio
import contextlib
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from nemutator_common.secret import Secret
from nemutator_common.shipping.brain_connections import KEPT_S, SERVED_S, watched_socket
from nemutator_common.shipping.brain_http import BrainOverHttp, Proof
from nemutator_common.shipping.destinations import Destination, LocalBrain, RemoteBrain
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError
from nemutator_common.shipping.links_over_http import (
    DocumentsOverHttp,
    ProfilesOverHttp,
    ReportsOverHttp,
)
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import LONGEST_PACE_S, Ack
from nemutator_controller.app.listeners import LOCAL_LIMITS

from tests.certificates import Authority
from tests.contract.shipping.test_links import TOKEN, batch
from tests.fakes.brain_link import BrainLink


class Brain:
    """Answers all that an agent and admission ask, and counts connections."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.link = BrainLink()
        self.accepted = 0
        self.asked: list[str] = []
        self.tokens: list[str] = []
        self.breaks: set[int] = set()
        """The numbers of requests, from 1 on, on which the connection ends without an answer."""
        self.connections: set[asyncio.BaseTransport | None] = set()
        self.stopped: set[asyncio.BaseTransport | None] = set()
        """Connections on which nothing is answered, as a stopped brain's."""
        self.came = asyncio.Event()
        self.ended = asyncio.Event()
        self.together = asyncio.Barrier(1)
        """So many questions for profile requests are answered together."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        self.tokens.append(request.headers["Authorization"])
        self.connections.add(request.transport)
        self.came.set()
        if request.transport in self.stopped:
            await self.ended.wait()
        if len(self.asked) in self.breaks:
            assert request.transport is not None
            request.transport.abort()
            raise ConnectionResetError
        if request.path.endswith("profile-requests"):
            await self.together.wait()
            return web.Response(body=b'{"requests": []}')
        if request.path.endswith("advice"):
            return web.Response(body=b"advice", headers={"ETag": '"1"'})
        if request.method == "GET":
            return web.Response(body=msgspec.json.encode(Ack("e", 0)))
        return web.Response(body=msgspec.json.encode(await self.link.send(await request.read())))

    @contextlib.asynccontextmanager
    async def running(self, folder: Path, *, tls: bool) -> AsyncIterator[Destination]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(application, keepalive_timeout=SERVED_S)
        await runner.setup()
        serve = runner.server
        assert serve is not None

        def accept() -> asyncio.BaseProtocol:
            self.accepted += 1
            return serve()

        loop = asyncio.get_running_loop()
        if tls:
            listening = await loop.create_server(accept, "127.0.0.1", 0, ssl=self._tls(folder))
            where: Destination = RemoteBrain("localhost", listening.sockets[0].getsockname()[1])
        else:
            path = folder / "brain.sock"
            listening = await loop.create_unix_server(accept, path)
            where = LocalBrain(path)
        try:
            yield where
        finally:
            self.ended.set()
            listening.close()
            await runner.cleanup()

    def _tls(self, folder: Path) -> ssl.SSLContext:
        (folder / "brain.pem").write_text(self.authority.server("localhost").both)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(folder / "brain.pem")
        return context


class Agent:
    """The real client, whose files a test replaces."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        self.token = TOKEN
        self._ca = folder / "ca.crt"
        self.trust(authority)
        self.ca = RereadFile(self._ca, SystemClock(), reason="untrusted")

    def trust(self, *authorities: Authority) -> None:
        self._ca.write_text("".join(one.certificate for one in authorities))

    def calling(self, where: Destination) -> BrainOverHttp:
        remote = isinstance(where, RemoteBrain)
        return BrainOverHttp(where, proof=Proof(lambda: self.token), ca=self.ca if remote else None)


def pass_s(brain: BrainOverHttp, seconds: float) -> None:
    """Let every connection that waits have waited for so much longer: aiohttp takes no clock."""
    connector = brain._sessions._current.session.connector  # type: ignore[union-attr]
    for key, kept in connector._conns.items():  # type: ignore[union-attr]
        older = deque((connection, since - seconds) for connection, since in kept)
        connector._conns[key] = older  # type: ignore[union-attr]


@pytest.fixture(params=["unix", "tls"])
def tls(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "tls")


AUTHORITY = Authority("brain CA")


@pytest.fixture
def brain() -> Brain:
    return Brain(AUTHORITY)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path, AUTHORITY)


@pytest.mark.parametrize("apart_s", [20.0, LONGEST_PACE_S])
async def test_two_reports_at_any_pace_use_one_connection(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool, apart_s: float
) -> None:
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        for number in range(3):
            await ReportsOverHttp(calls).send(batch(reports=number + 1))
            pass_s(calls, apart_s)
    assert brain.accepted == 1
    assert len(brain.link.batches) == 3


async def test_polls_of_profile_requests_and_of_snapshots_use_one_connection(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        for _ in range(2):
            await ProfilesOverHttp(brain=calls, node="n").requests(0)
            pass_s(calls, 60)
            await DocumentsOverHttp(calls).get("/uplink/v1/advice")
            pass_s(calls, 60)
    assert brain.accepted == 1


async def test_a_connection_that_nobody_needs_is_given_back_before_the_brain_closes_it(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        await ReportsOverHttp(calls).send(batch())
        pass_s(calls, KEPT_S + 1)
        await ReportsOverHttp(calls).send(batch(reports=2))
    assert brain.accepted == 2
    assert LONGEST_PACE_S < KEPT_S < SERVED_S == LOCAL_LIMITS.idle_s


async def test_a_report_on_a_connection_that_was_closed_meanwhile_is_sent_again_at_once(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    brain.breaks = {2}
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        await ReportsOverHttp(calls).send(batch())
        assert await ReportsOverHttp(calls).send(batch(reports=2)) == Ack("e", 2)
    assert brain.accepted == 2
    assert len(brain.asked) == 3


async def test_a_new_connection_that_breaks_is_a_failure_like_any_other(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    """Whoever tries that again at once makes a stampede of ten thousand agents."""
    brain.breaks = {1, 2, 3}
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        with pytest.raises(LinkUnavailableError) as failure:
            await ReportsOverHttp(calls).send(batch())
    assert failure.value.reason == "connection"
    assert len(brain.asked) == 1


async def test_a_brain_that_ends_every_connection_is_not_asked_for_ever(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    brain.breaks = set(range(2, 100))
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        await ReportsOverHttp(calls).send(batch())
        with pytest.raises(LinkUnavailableError):
            await ReportsOverHttp(calls).send(batch(reports=2))
    assert len(brain.asked) == 3


async def test_of_a_brain_that_is_silent_one_connection_alone_costs_the_time_of_a_call(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    brain.together = asyncio.Barrier(3)
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        profiles = ProfilesOverHttp(brain=calls, node="n")
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(profiles.requests(0))
        assert brain.accepted == 3
        brain.stopped = set(brain.connections)
        with pytest.raises(LinkUnavailableError) as failure:
            await calls.call("GET", "/uplink/v1/advice", deadline_s=0.01)
        assert failure.value.reason == "timeout"
        # The next one goes over a connection of its own, not over one that is kept.
        assert await ReportsOverHttp(calls).send(batch()) == Ack("e", 1)
    assert brain.accepted == 4


async def test_a_call_that_is_on_its_way_goes_on_when_another_is_not_answered(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    brain.together = asyncio.Barrier(2)
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        profiles = ProfilesOverHttp(brain=calls, node="n")
        async with asyncio.TaskGroup() as group:
            poll = group.create_task(profiles.requests(0))
            await brain.came.wait()
            with pytest.raises(LinkUnavailableError):
                await calls.call("GET", "/uplink/v1/advice", deadline_s=0.0)
            assert await profiles.requests(0) == await poll


async def test_a_renewed_token_goes_over_the_same_connection(
    brain: Brain, agent: Agent, tmp_path: Path, tls: bool
) -> None:
    async with brain.running(tmp_path, tls=tls) as where, agent.calling(where) as calls:
        await ReportsOverHttp(calls).send(batch())
        agent.token = Secret("renewed")
        await ReportsOverHttp(calls).send(batch(reports=2))
    assert brain.accepted == 1
    assert brain.tokens == [f"Bearer {TOKEN.reveal()}", "Bearer renewed"]


async def test_after_a_change_of_authorities_no_connection_of_before_is_used(
    brain: Brain, agent: Agent, tmp_path: Path
) -> None:
    async with brain.running(tmp_path, tls=True) as where, agent.calling(where) as calls:
        await ReportsOverHttp(calls).send(batch())
        agent.trust(AUTHORITY, Authority("next"))
        agent.ca.invalidate()
        await ReportsOverHttp(calls).send(batch(reports=2))
        assert brain.accepted == 2
        agent.trust(Authority("next"))
        agent.ca.invalidate()
        with pytest.raises(LinkUnavailableError) as failure:
            await ReportsOverHttp(calls).send(batch(reports=3))
    assert failure.value.reason == "untrusted"
    assert len(brain.link.batches) == 2


def test_the_kernel_looks_whether_somebody_is_still_at_the_other_end() -> None:
    kind = socket.SOCK_STREAM
    with watched_socket((socket.AF_INET, kind, socket.IPPROTO_TCP, "", ("", 0))) as made:
        probes = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
        between_s = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL)
        first_s = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert first_s + probes * between_s < LONGEST_PACE_S
        unacknowledged_ms = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert 0 < unacknowledged_ms < LONGEST_PACE_S * 1000
