import asyncio

import pytest
from nemutator_agent.credentials.vault.cache import DENIAL_S
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    NoAccountTokenError,
    Outage,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.session_tokens import POLL_S
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.brokers import FRESH_S, BrokerSetup
from tests.fakes.ledgers import MemoryLedger
from tests.fakes.peers import OTHER_POD

PATH = "secret/app/db"


@pytest.fixture
def setup() -> BrokerSetup:
    made = BrokerSetup()
    made.vault.state.write(PATH, {"password": "first"})
    made.allow(PATH)
    return made


async def test_a_refused_login_is_not_repeated_for_every_request(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session(role="nobody")
        for _ in range(5):
            with pytest.raises(LoginRefusedError, match="invalid role name"):
                await setup.broker.read(session, PATH)
        assert setup.calls == {"login": 1}
        await setup.clock.advance(DENIAL_S)
        with pytest.raises(LoginRefusedError):
            await setup.broker.read(session, PATH)
        assert setup.calls == {"login": 2}
        # Another token of kubelet's is another try; none, or the same, is not.
        setup.broker.refresh(session, None)
        setup.broker.refresh(session, session.jwt)
        with pytest.raises(LoginRefusedError):
            await setup.broker.read(session, PATH)
        assert setup.calls == {"login": 2}
        setup.broker.refresh(session, Secret("newer"))
        with pytest.raises(LoginRefusedError):
            await setup.broker.read(session, PATH)
        assert setup.calls == {"login": 3}
    assert setup.grants.of("login") == ["denied"] * 3


async def test_a_refused_login_evicts_what_was_kept(setup: BrokerSetup) -> None:
    setup.allow(PATH, ttl_s=30)
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.roles.clear()
        setup.vault.state.tokens.clear()
        await setup.clock.advance(FRESH_S)
        with pytest.raises(LoginRefusedError):
            await setup.broker.read(session, PATH)
        assert not session.cache


async def test_without_a_token_of_kubelets_nobody_logs_in(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        session.jwt = None
        with pytest.raises(NoAccountTokenError):
            await setup.broker.read(session, PATH)
        assert setup.calls == {}


@pytest.mark.parametrize(
    ("outage", "may_have_given_one"),
    [("sealed", False), ("busy", False), ("tls", False), ("timeout", True), ("down", True)],
)
async def test_a_login_stays_in_the_ledger_when_vault_may_have_given_a_token(
    outage: Outage, may_have_given_one: bool
) -> None:
    ledger = MemoryLedger()
    setup = BrokerSetup(ledger=ledger)
    setup.vault.outage = outage
    async with setup.running():
        with pytest.raises(VaultUnavailableError):
            await setup.broker.read(setup.session(), PATH)
    assert bool(ledger.entries.intents) is may_have_given_one


async def test_a_refused_login_leaves_nothing_in_the_ledger() -> None:
    ledger = MemoryLedger()
    setup = BrokerSetup(ledger=ledger)
    async with setup.running():
        with pytest.raises(LoginRefusedError):
            await setup.broker.read(setup.session(role="nobody"), PATH)
    assert ledger.entries.intents == {}


async def test_while_the_api_server_is_away_a_login_is_not_a_denial(setup: BrokerSetup) -> None:
    setup.vault.state.reviews = False
    async with setup.running():
        session = setup.session()
        for _ in range(5):
            with pytest.raises(VaultUnavailableError) as raised:
                await setup.broker.read(session, PATH)
            assert raised.value.reason == "unsettled"
            await setup.clock.advance(15.0)
        setup.vault.state.reviews = True
        assert (await setup.broker.read(session, PATH)).document.version == 1


async def test_a_refusal_without_a_reason_counts_once_others_log_in(setup: BrokerSetup) -> None:
    setup.allow(PATH, pod=OTHER_POD)
    async with setup.running():
        mine, others = setup.session(), setup.session(OTHER_POD)
        setup.broker.refresh(mine, Secret("not the account's"))
        with pytest.raises(VaultUnavailableError):
            await setup.broker.read(mine, PATH)
        await setup.clock.advance(2.0)
        await setup.broker.read(others, PATH)
        with pytest.raises(LoginRefusedError):
            await setup.broker.read(mine, PATH)


async def test_a_token_is_renewed_at_two_thirds_of_its_life(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        await setup.clock.advance(2380)
        assert "renew" not in setup.calls
        await setup.clock.advance(40)
        assert setup.calls["renew"] == 1
        # Long after its first end.
        await setup.clock.advance(2410)
        assert setup.calls["renew"] == 2
        await setup.broker.read(session, PATH)
        assert setup.calls["login"] == 1
    assert setup.grants.of("renew") == ["granted", "granted"]


async def test_a_token_that_cannot_be_renewed_is_replaced_by_a_login(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.tokens.clear()
        await setup.clock.advance(2420)
        assert setup.calls["login"] == 2
        assert list(setup.vault.state.tokens.values()) == ["shop.api"]
    assert setup.grants.of("renew") == ["denied"]


async def test_a_token_that_may_not_renew_itself_serves_until_its_end(setup: BrokerSetup) -> None:
    """As with a role whose tokens have no default policy."""
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (token,) = setup.vault.state.tokens
        setup.vault.refuses = {"renew", "revoke"}
        await setup.clock.advance(3500)
        await setup.broker.read(session, PATH)
        assert (setup.calls["login"], setup.grants.of("renew")) == (1, ["denied"])
        assert session.held is not None
        assert session.held.lease.token.reveal() == token
        await setup.clock.advance(100)
        await setup.broker.read(session, PATH)
        assert setup.calls["login"] == 2


async def test_near_its_longest_life_a_token_is_replaced_and_the_old_one_revoked(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (old,) = setup.vault.state.tokens
        setup.allow(PATH, ttl_s=1000)
        await setup.clock.advance(2420)
        assert setup.calls["login"] == 2
        assert setup.vault.state.revoked == [old]


async def test_a_renewal_during_an_outage_is_tried_again_and_not_in_a_hurry(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.outage = "down"
        await setup.clock.advance(2600)
        failed = setup.meter.value(names.VAULT_CALLS, operation="renew", result="down")
        assert 2 <= failed <= 10
        setup.vault.outage = None
        await setup.clock.advance(60 + POLL_S)
        assert setup.grants.of("renew")[-1] == "granted"
        assert setup.calls["login"] == 1


async def test_a_login_that_ends_after_its_pod_is_revoked_too(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        setup.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            reader = tasks.create_task(_refused(setup, session))
            await setup.clock.advance(0)
            setup.broker.close(session)
            setup.vault.open.set()
        assert isinstance(reader.result(), NoAccountTokenError)
        await setup.clock.advance(1)
        assert setup.vault.state.tokens == {}
        assert len(setup.vault.state.revoked) == 1


async def _refused(setup: BrokerSetup, session: VaultSession) -> BaseException:
    with pytest.raises(NoAccountTokenError) as raised:
        await setup.broker.read(session, PATH)
    return raised.value
