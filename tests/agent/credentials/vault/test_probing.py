import asyncio
import logging
from dataclasses import replace

import pytest
from nemutator_agent.credentials.vault.circuit_breaker import BACKOFF
from nemutator_agent.credentials.vault.failures import (
    Outage,
    SecretMissingError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.probing import PART, VaultCircuit
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.brokers import FRESH_S, BrokerSetup
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.peers import POD
from tests.fakes.process import fake_process

PATH = "secret/app/db"


@pytest.fixture
def setup() -> BrokerSetup:
    made = BrokerSetup()
    made.vault.state.write(PATH, {"password": "first"})
    return made


def pods(setup: BrokerSetup, many: int) -> list[VaultSession]:
    made = []
    for number in range(many):
        pod = replace(POD, uid=f"u-{number}", service_account=f"api-{number}")
        setup.allow(PATH, pod=pod)
        made.append(setup.session(pod))
    return made


async def unanswered(setup: BrokerSetup, session: VaultSession) -> VaultUnavailableError:
    with pytest.raises(VaultUnavailableError) as raised:
        await setup.broker.read(session, PATH)
    return raised.value


@pytest.mark.parametrize("outage", ["busy", "sealed", "down"])
async def test_an_outage_is_not_one_call_for_each_request_of_each_pod(
    setup: BrokerSetup, outage: Outage
) -> None:
    async with setup.running():
        sessions = pods(setup, 20)
        setup.vault.outage = outage
        for _ in range(50):
            for session in sessions:
                await unanswered(setup, session)
        asked = setup.meter.total(names.VAULT_CALLS, result=outage)
        assert 1 <= asked <= 3
        assert setup.meter.value(names.VAULT_CIRCUIT) == 2
        assert PART in setup.process.readiness.problems()


async def test_what_fails_for_one_pod_alone_is_tried_ever_more_seldom(setup: BrokerSetup) -> None:
    async with setup.running():
        (session,) = pods(setup, 1)
        setup.vault.outage = "down"
        for _ in range(40):
            await unanswered(setup, session)
            await setup.clock.advance(0.25)
        assert 2 <= setup.meter.total(names.VAULT_CALLS, operation="login") <= 5


async def test_vault_says_when_to_ask_again(setup: BrokerSetup) -> None:
    async with setup.running():
        (session,) = pods(setup, 1)
        setup.vault.outage, setup.vault.retry_after_s = "busy", 20.0
        refused = await unanswered(setup, session)
        refused = await unanswered(setup, session)
        assert refused.retry_after_s is not None
        assert refused.retry_after_s >= 20.0
        await setup.clock.advance(19.0)
        await unanswered(setup, session)
        assert setup.meter.total(names.VAULT_CALLS, operation="login") == 1


async def test_while_it_is_open_memory_answers_and_vault_is_probed_alone(
    setup: BrokerSetup, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with setup.running():
        sessions = pods(setup, 5)
        for session in sessions:
            await setup.broker.read(session, PATH)
        await setup.clock.advance(FRESH_S)
        setup.vault.outage = "sealed"
        for _ in range(10):
            for session in sessions:
                assert (await setup.broker.read(session, PATH)).stale
        assert setup.meter.total(names.VAULT_CALLS, operation="read", result="sealed") == 1
        await setup.clock.advance(60.0)
        probes = setup.meter.total(names.VAULT_CALLS, operation="health")
        assert 4 <= probes <= 15
        setup.vault.outage = None
        await setup.clock.advance(BACKOFF.longest_s)
        assert setup.meter.value(names.VAULT_CIRCUIT) == 1
        assert PART not in setup.process.readiness.problems()
        readings = [await setup.broker.read(session, PATH) for session in sessions]
        assert not any(reading.stale for reading in readings)
        assert setup.meter.value(names.VAULT_CIRCUIT) == 0
    said = [record.message for record in caplog.records]
    assert (said.count("vault_not_asked"), said.count("vault_answers_again")) == (1, 1)


async def test_while_vault_hangs_memory_does_not_wait_long(setup: BrokerSetup) -> None:
    async with setup.running():
        (session,) = pods(setup, 1)
        await setup.broker.read(session, PATH)
        await setup.clock.advance(FRESH_S)
        setup.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            before = setup.clock.sleepers
            first = tasks.create_task(setup.broker.read(session, PATH))
            await setup.clock.until_sleeping(before + 1)
            await setup.clock.advance(1.0)
            # Those who come later know already that it hangs.
            later = tasks.create_task(setup.broker.read(session, PATH))
            await setup.clock.advance(0.0)
            assert first.done()
            assert later.done()
            assert first.result().stale
            assert later.result().stale
            setup.vault.open.set()
            await setup.clock.advance(0.0)
            assert not (await setup.broker.read(session, PATH)).stale
        assert setup.calls["read"] == 2


async def test_a_try_that_nobody_waits_for_any_more_gives_the_turn_back(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        one, two = pods(setup, 2)
        setup.vault.outage = "sealed"
        await unanswered(setup, one)
        setup.vault.outage = None
        await setup.clock.advance(BACKOFF.longest_s)
        calls = setup.vault_calls.of(one.account)
        setup.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            trying = tasks.create_task(calls.renew(Secret("hvs.x")))
            await setup.clock.advance(0.0)
            trying.cancel()
        setup.vault.open.set()
        assert (await setup.broker.read(two, PATH)).document.version == 1


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (VaultDeniedError("unsupported path"), 1),
        (SecretMissingError("nothing there"), 1),
        (VaultUnavailableError("malformed", "<html>"), 1),
        (VaultUnavailableError("down", "no connection"), 2),
    ],
)
async def test_whatever_vault_says_to_a_probe_it_answers(found: VaultError, state: int) -> None:
    clock, meter = ManualClock(), MemoryMeter()

    async def probe() -> None:
        raise found

    circuit = VaultCircuit(fake_process(clock=clock, meter=meter), probe)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(circuit.run())
        circuit.failed("one", VaultUnavailableError("sealed", "Vault is sealed"))
        await clock.until_sleeping()
        await clock.advance(BACKOFF.first_s)
        assert meter.value(names.VAULT_CIRCUIT) == state
        running.cancel()
