import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from nemutator_agent.credentials.leases.states import LeaseHolding
from nemutator_agent.credentials.vault.engine_reading import EngineReading

from tests.fakes.brokers import BrokerSetup
from tests.fakes.vault_states import Engine

PATH = "database/creds/shop"
TERM_S = 90


@dataclass
class Reader:
    setup: BrokerSetup = field(default_factory=BrokerSetup)

    def __post_init__(self) -> None:
        state = self.setup.vault.state
        state.engines["database/"] = Engine(None, answers={"config": {"data": {"a": "1"}}})
        state.lease_s[PATH] = TERM_S
        self.setup.allow(PATH, "database/config")
        self.session = self.setup.session()

    async def read(self, path: str = PATH) -> EngineReading:
        return await self.setup.broker.read_engine(self.session, path)


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    reader = Reader()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(reader.setup.running())
        yield reader


async def test_what_is_lent_is_read_once_until_it_is_due(reader: Reader) -> None:
    first = await reader.read()
    assert first.answer is not None
    assert first.leased is not None
    (lease,) = reader.setup.vault.state.leases
    again = await reader.read()
    assert (again.answer, again.leased) == (None, first.leased)
    assert first.leased.lease_id == lease
    first.leased.holding = LeaseHolding()  # one that is not good any more
    assert (await reader.read()).answer is not None
    assert len(reader.setup.vault.state.leases) == 2


async def test_all_who_ask_meanwhile_get_one_lease(reader: Reader) -> None:
    async with asyncio.TaskGroup() as tasks:
        reading = [tasks.create_task(reader.read()) for _ in range(3)]
    assert len({id(one.result()) for one in reading}) == 1
    assert len(reader.setup.vault.state.leases) == 1


async def test_what_is_not_lent_is_asked_for_each_time(reader: Reader) -> None:
    for _ in range(2):
        reading = await reader.read("database/config")
        assert reading.leased is None
        assert reading.answer is not None
        assert reading.answer.document["data"] == {"a": "1"}
    assert reader.setup.calls["read"] == 2
    assert reader.session.leased == {}


async def test_nothing_is_held_for_a_pod_that_has_ended_meanwhile(reader: Reader) -> None:
    async with asyncio.TaskGroup() as tasks:
        await reader.read("database/config")
        reader.setup.vault.open.clear()
        reading = tasks.create_task(reader.read())
        await reader.setup.clock.advance(0)
        reader.setup.broker.close(reader.session)
        reader.setup.vault.open.set()
        await reading
    assert reader.session.leased == {}
