import asyncio
import contextlib
from collections.abc import AsyncIterator

from nemutator_agent.credentials.rotation.checking import RotationChecks
from nemutator_agent.credentials.rotation.schedule import CheckSchedule
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_common import names

from tests.fakes.brokers import BrokerSetup
from tests.fakes.peers import OTHER_POD, POD

DB = "secret/app/db"


class Reader:
    """A `Follower`, that keeps what it has taken."""

    def __init__(self, session: VaultSession, document: Document) -> None:
        self.session = session
        self.has = [document]

    def differs(self, path: str, document: Document) -> bool:
        return document != self.has[-1]

    def take(self, path: str, document: Document) -> None:
        self.has.append(document)

    @property
    def versions(self) -> list[int | None]:
        return [document.version for document in self.has]


class Setup:
    def __init__(self, *, per_minute: float = 60) -> None:
        self.vault = BrokerSetup()
        self.vault.vault.state.write(DB, {"password": "one"})
        for pod in (POD, OTHER_POD):
            self.vault.allow(DB, pod=pod)
        self.checks = RotationChecks(
            self.vault.broker,
            CheckSchedule(per_minute=per_minute, interval_s=60),
            self.vault.process,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.vault.running(self.checks.run):
            yield

    async def reader(self, session: VaultSession) -> Reader:
        reading = await self.vault.broker.read(session, DB)
        reader = Reader(session, reading.document)
        self.checks.follow(DB, reader)
        # The sleeper of this path comes beside the broker's two.
        await self.vault.clock.until_sleeping(3)
        return reader

    def change(self, value: str) -> None:
        self.vault.vault.state.write(DB, {"password": value})

    async def checked(self, times: int, *, result: str) -> None:
        """Let time pass until so many checks had this result."""
        async with asyncio.timeout(60):
            while self.results(result) < times:
                await self.vault.clock.advance(5)

    def results(self, result: str) -> float:
        return self.vault.meter.value(names.ROTATION_CHECKS, result=result)


async def test_each_reader_gets_a_change_by_a_reading_of_its_own() -> None:
    setup = Setup()
    async with setup.running():
        mine = await setup.reader(setup.vault.session())
        theirs = await setup.reader(setup.vault.session(OTHER_POD))
        setup.change("two")
        await setup.checked(1, result="changed")
        await setup.checked(1, result="same")
        assert (mine.versions, theirs.versions) == ([1, 2], [1, 2])
        # Both at first, one check for both, one for who was behind, and one that found nothing.
        assert setup.vault.calls["read"] == 5


async def test_a_path_is_read_once_for_all_its_readers() -> None:
    setup = Setup()
    async with setup.running():
        readers = [await setup.reader(setup.vault.session(pod)) for pod in (POD, OTHER_POD)]
        await setup.checked(3, result="same")
        assert setup.vault.calls["read"] == len(readers) + 3


async def test_who_may_not_read_it_any_more_keeps_what_it_has() -> None:
    setup = Setup()
    async with setup.running():
        mine = await setup.reader(setup.vault.session())
        setup.change("two")
        setup.vault.allow("secret/another")
        await setup.checked(1, result="denied")
        assert mine.versions == [1]


async def test_a_pod_that_has_ended_is_not_read_for() -> None:
    setup = Setup()
    async with setup.running():
        session = setup.vault.session()
        reader = await setup.reader(session)
        assert setup.vault.meter.value(names.FOLLOWED_PATHS) == 1
        setup.vault.broker.close(session)
        async with asyncio.timeout(60):
            while setup.vault.meter.value(names.FOLLOWED_PATHS):
                await setup.vault.clock.advance(5)
        assert setup.vault.calls["read"] == 1
        assert reader.versions == [1]
