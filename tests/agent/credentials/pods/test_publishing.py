import asyncio
from collections.abc import Mapping

import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.pods.budgets import MOST_OF_ONE_POD, PodBudgets
from nemutator_agent.credentials.pods.handler import PodHandler
from nemutator_agent.credentials.pods.publishing import PodPublisher
from nemutator_agent.credentials.ports import PodCallerHandler
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.publications import Publication, PublishedPod, VolumeDirectory
from nemutator_common import names
from nemutator_common.declarations import DeclarationError, Declarations
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from tests.fakes.brokers import JWT, BrokerSetup
from tests.fakes.container_signals import RecordedSignals
from tests.fakes.peers import OTHER_POD, POD, Caller, TrustingAttestor
from tests.fakes.served_values import MemoryServed

PATIENCE_S = 60.0


class Socket:
    def __init__(self, directory: VolumeDirectory) -> None:
        self.directory = directory
        self.running = asyncio.Event()
        self.failing = asyncio.Event()
        self.closed = asyncio.Event()

    def listens_in(self, directory: VolumeDirectory) -> bool:
        return self.directory == directory

    async def run(self) -> None:
        self.running.set()
        await self.failing.wait()
        raise OSError("the socket broke")

    def close(self) -> None:
        self.closed.set()


class Publishing:
    """A publisher with sockets that are none."""

    def __init__(self) -> None:
        self.setup = BrokerSetup()
        self.setup.allow("secret/app")
        self.setup.vault.state.write("secret/app", {"a": 1})
        self.sockets: dict[str, Socket] = {}
        self.handlers: list[PodHandler] = []
        self.refusing = False
        self.forgotten: list[str] = []
        self.publisher = PodPublisher(
            self.setup.broker, self.open, self._handler, self.setup.process, self.forgotten.append
        )

    def open(self, directory: VolumeDirectory, pod_uid: str, handler: PodCallerHandler) -> Socket:
        if self.refusing:
            raise OperatorError("no", remedy="?", code=ExitCode.DATA_DIRECTORY)
        self.sockets[directory.path] = Socket(directory)
        return self.sockets[directory.path]

    def put(
        self,
        volume: str = "v1",
        pod: PublishedPod = POD,
        *,
        attributes: Mapping[str, str] = {"secret.app": "secret/app"},
        tokens: Mapping[str, str] | None = None,
        inode: int = 1,
    ) -> None:
        given = {"vault": f"{JWT}-{pod.uid}"} if tokens is None else tokens
        directory = VolumeDirectory(f"/volumes/{volume}", 50, inode)
        self.publisher.publish(
            volume,
            Publication(pod=pod, directory=directory, attributes=attributes, tokens=given),
        )

    async def read(self, handler: int = -1) -> str:
        return (await self.handlers[handler].admit(Caller()).secret("app")).value.reveal()

    @property
    def served(self) -> float:
        return self.setup.meter.value(names.POD_SOCKETS)

    def _handler(
        self, session: VaultSession, declared: Declarations | DeclarationError, _: str
    ) -> PodHandler:
        setup = self.setup
        self.handlers.append(
            PodHandler(
                session,
                declared,
                broker=setup.broker,
                attestor=TrustingAttestor(),
                audit=setup.audit,
                node="n1",
                follow=lambda _path, _followed: None,
                containers=RecordedSignals(),
                served=MemoryServed(),
                auth_mount="kubernetes",
                namespace="",
                budget=PodBudgets(100).of(session.account.pod.uid),
                process=setup.process,
            )
        )
        return self.handlers[-1]


async def test_a_published_pod_is_served_as_itself() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put()
        await publishing.sockets["/volumes/v1"].running.wait()
        assert await publishing.read() == '{"a":1}'
        assert publishing.served == 1


async def test_published_again_it_keeps_its_socket_and_takes_the_newer_token() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put(tokens={})
        with pytest.raises(HttpRefusal) as raised:
            await publishing.read()
        assert raised.value.step == "token"
        publishing.put()
        assert len(publishing.handlers) == len(publishing.sockets) == 1
        assert await publishing.read() == '{"a":1}'
        # A republish may come without one.
        publishing.put(tokens={})
        session = publishing.setup.session()
        assert session.jwt == Secret(f"{JWT}-{POD.uid}")


async def test_a_volume_that_was_made_again_gets_its_socket_there_and_keeps_its_token() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put()
        await publishing.read()
        before = publishing.sockets["/volumes/v1"]
        publishing.put(inode=2)
        await before.closed.wait()
        assert publishing.sockets["/volumes/v1"].directory.inode == 2
        assert await publishing.read() == '{"a":1}'
        await publishing.setup.clock.advance(1)
        assert publishing.setup.calls["login"] == 1
        assert publishing.setup.vault.state.revoked == []
        assert publishing.served == 1


async def test_where_no_socket_can_be_made_the_one_before_stays_until_it_can() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put()
        before = publishing.sockets["/volumes/v1"]
        publishing.refusing = True
        with pytest.raises(OperatorError):
            publishing.put(inode=2)
        assert not before.closed.is_set()
        publishing.refusing = False
        publishing.put(inode=2)
        await before.closed.wait()
        assert publishing.served == 1


async def test_a_volume_that_another_pod_has_now_is_served_as_that_pod_alone() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put()
        await publishing.read()
        (token,) = publishing.setup.vault.state.tokens
        publishing.put("v1", OTHER_POD)
        await publishing.setup.clock.advance(1)
        assert publishing.setup.vault.state.revoked == [token]
        assert publishing.handlers[-1].session.account.pod == OTHER_POD


async def test_a_token_for_somebody_else_is_not_shown_to_vault() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put(tokens={"brain.nemutator.io": f"{JWT}-{POD.uid}"})
        with pytest.raises(HttpRefusal) as raised:
            await publishing.read()
        assert raised.value.step == "token"
        assert publishing.setup.calls == {}


async def test_a_withdrawn_pod_loses_its_socket_and_its_token() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put()
        await publishing.read()
        (token,) = publishing.setup.vault.state.tokens
        await publishing.publisher.withdraw("v1")
        assert publishing.sockets["/volumes/v1"].closed.is_set()
        await publishing.setup.clock.advance(1)
        assert publishing.setup.vault.state.revoked == [token]
        assert publishing.served == 0
        # Again, and never known: both are fine.
        await publishing.publisher.withdraw("v1")
        await publishing.publisher.withdraw("v2")


async def test_with_two_volumes_a_pod_has_one_token_until_the_last_is_gone() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put("v1")
        publishing.put("v2")
        await publishing.read(0)
        await publishing.read(1)
        assert publishing.setup.calls["login"] == 1
        await publishing.publisher.withdraw("v1")
        await publishing.setup.clock.advance(1)
        assert publishing.setup.vault.state.revoked == []
        await publishing.publisher.withdraw("v2")
        await publishing.setup.clock.advance(1)
        assert len(publishing.setup.vault.state.revoked) == 1


async def test_a_faulty_declaration_still_publishes_and_says_so() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put(attributes={"secret.app": "no-mount"})
        with pytest.raises(HttpRefusal, match=r"secret\.app: expected mount/path#key"):
            await publishing.read()


async def test_a_broken_socket_ends_alone_and_can_be_made_again() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.put("v1")
        publishing.put("v2", OTHER_POD)
        broken = publishing.sockets["/volumes/v1"]
        broken.failing.set()
        await broken.closed.wait()
        await publishing.setup.clock.advance(0)
        assert publishing.served == 1
        assert not publishing.sockets["/volumes/v2"].closed.is_set()
        publishing.put("v1")
        assert await publishing.read() == '{"a":1}'


async def test_what_cannot_be_opened_leaves_nothing_behind() -> None:
    publishing = Publishing()
    async with publishing.setup.running(publishing.publisher.run):
        publishing.refusing = True
        with pytest.raises(OperatorError):
            publishing.put()
        publishing.refusing = False
        publishing.put()
        assert await publishing.read() == '{"a":1}'
        assert publishing.served == 1


async def test_there_is_an_end_to_how_many_are_served() -> None:
    publishing = Publishing()
    with pytest.raises(OperatorError, match="not served yet"):
        publishing.put()
    async with publishing.setup.running(publishing.publisher.run):
        for number in range(MOST_OF_ONE_POD):
            publishing.put(f"v{number}")
        with pytest.raises(OperatorError, match="volumes of one pod"):
            publishing.put("one-more")
        publishing.put("v0")
        publishing.put("others", OTHER_POD)


async def test_at_the_end_every_socket_is_closed_and_no_pod_loses_its_token() -> None:
    publishing = Publishing()
    async with asyncio.timeout(PATIENCE_S):
        async with publishing.setup.running(publishing.publisher.run):
            publishing.put()
            await publishing.sockets["/volumes/v1"].running.wait()
            await publishing.read()
    assert publishing.sockets["/volumes/v1"].closed.is_set()
    assert publishing.setup.vault.state.revoked == []
