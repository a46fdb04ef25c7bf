import asyncio

import pytest
from nemutator_agent.credentials.vault.cache import DENIAL_S
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import (
    Outage,
    SecretMissingError,
    TokenGoneError,
    VaultDeniedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.session_tokens import PROVED_S
from nemutator_common import names

from tests.fakes.brokers import FRESH_S, STALE_S, BrokerSetup
from tests.fakes.peers import OTHER_POD, POD
from tests.fakes.vault_states import Engine

PATH = "secret/app/db"


@pytest.fixture
def setup() -> BrokerSetup:
    made = BrokerSetup()
    made.vault.state.write(PATH, {"password": "first"})
    made.allow(PATH)
    return made


async def test_a_pod_logs_in_once_and_reads_as_itself(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        reading = await setup.broker.read(session, PATH)
        assert reading.document.content.reveal() == '{"password":"first"}'
        assert (reading.document.version, reading.cached, reading.stale) == (1, False, False)
        assert setup.calls == {"login": 1, "mount": 1, "read": 1}
    (login,) = setup.grants.all
    assert (login.operation, login.result, login.role) == ("login", "granted", "shop.api")
    assert login.expires_at == setup.clock.now() + 3600


async def test_what_is_fresh_is_not_asked_for_again(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.write(PATH, {"password": "second"})
        await setup.clock.advance(FRESH_S - 1)
        again = await setup.broker.read(session, PATH)
        assert (again.cached, again.document.version) == (True, 1)
        await setup.clock.advance(1)
        later = await setup.broker.read(session, PATH)
        assert (later.cached, later.document.version) == (False, 2)
        # The mount was known by then.
        assert setup.calls == {"login": 1, "mount": 1, "read": 2}


async def test_equal_questions_at_the_same_time_are_one_call(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        setup.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            readers = [tasks.create_task(setup.broker.read(session, PATH)) for _ in range(20)]
            await asyncio.sleep(0)
            setup.vault.open.set()
        assert {reader.result().document.version for reader in readers} == {1}
        assert setup.calls == {"login": 1, "mount": 1, "read": 1}


async def test_a_reader_who_leaves_takes_nothing_from_those_who_wait(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        setup.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(setup.broker.read(session, PATH))
            second = tasks.create_task(setup.broker.read(session, PATH))
            await asyncio.sleep(0)
            first.cancel()
            await asyncio.sleep(0)
            setup.vault.open.set()
        assert second.result().document.version == 1


async def test_two_pods_share_neither_token_nor_answers(setup: BrokerSetup) -> None:
    setup.allow("secret/app/web", pod=OTHER_POD)
    setup.vault.state.write("secret/app/web", {"word": "of web"})
    async with setup.running():
        mine, others = setup.session(), setup.session(OTHER_POD)
        await setup.broker.read(mine, PATH)
        with pytest.raises(VaultDeniedError):
            await setup.broker.read(others, PATH)
        assert len(set(setup.vault.state.tokens)) == 2


async def test_a_denial_evicts_at_once(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.allow("secret/app/else")
        await setup.clock.advance(FRESH_S)
        with pytest.raises(VaultDeniedError):
            await setup.broker.read(session, PATH)
        # Even an outage does not bring it back.
        await setup.clock.advance(DENIAL_S)
        setup.vault.outage = "sealed"
        with pytest.raises(VaultUnavailableError):
            await setup.broker.read(session, PATH)


async def test_what_was_deleted_is_not_given_any_more(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.delete(PATH)
        await setup.clock.advance(FRESH_S)
        with pytest.raises(SecretMissingError):
            await setup.broker.read(session, PATH)
        assert not session.cache


@pytest.mark.parametrize("outage", ["timeout", "down", "sealed", "busy"])
async def test_during_an_outage_the_last_answer_counts_for_a_while(
    setup: BrokerSetup, outage: Outage
) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.outage = outage
        await setup.clock.advance(FRESH_S)
        reading = await setup.broker.read(session, PATH)
        assert (reading.stale, reading.document.version) == (True, 1)
        await setup.clock.advance(STALE_S - FRESH_S)
        with pytest.raises(VaultUnavailableError):
            await setup.broker.read(session, PATH)
    assert setup.meter.value(names.CREDENTIAL_READS, result="stale") == 1


@pytest.mark.parametrize("outage", ["tls", "malformed"])
async def test_while_a_stranger_answers_for_vault_nothing_old_counts(
    setup: BrokerSetup, outage: Outage
) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.outage = outage
        await setup.clock.advance(FRESH_S)
        with pytest.raises(VaultUnavailableError):
            await setup.broker.read(session, PATH)


async def test_a_refused_reading_is_not_repeated_for_every_request(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        for path, error in (
            ("secret/other", VaultDeniedError),
            ("secret/app/none", SecretMissingError),
        ):
            setup.allow(PATH, "secret/app/none")
            for _ in range(5):
                with pytest.raises(error):
                    await setup.broker.read(session, path)
        assert setup.calls == {"login": 1, "mount": 2, "read": 2}
        setup.vault.state.write("secret/app/none", {"now": "there"})
        await setup.clock.advance(DENIAL_S)
        assert (await setup.broker.read(session, "secret/app/none")).document.version == 1
    counted = setup.meter.value(names.CREDENTIAL_READS, result="denied")
    assert counted == 5


async def test_a_token_that_vault_forgot_is_replaced_once(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.tokens.clear()
        await setup.clock.advance(FRESH_S)
        assert (await setup.broker.read(session, PATH)).document.version == 1
        assert setup.calls["login"] == 2


class Forgetting(dict[str, str]):
    def __setitem__(self, token: str, role: str) -> None:
        pass


async def test_a_vault_that_forgets_every_token_is_a_denial(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        await setup.clock.advance(FRESH_S)
        setup.vault.state.tokens = Forgetting()
        with pytest.raises(TokenGoneError):
            await setup.broker.read(session, PATH)
        assert setup.calls["login"] == 2
        assert not session.cache


async def test_when_a_pod_ends_its_token_is_revoked_and_nothing_is_kept(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (token,) = setup.vault.state.tokens
        setup.broker.close(session)
        await setup.clock.advance(1)
        assert setup.vault.state.revoked == [token]
        assert (session.cache, session.jwt, session.held) == ({}, None, None)
        assert setup.broker.open(session.account) is not session
    assert setup.grants.of("revoke") == ["granted"]


async def test_no_record_has_a_value_a_token_or_a_path(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (token,) = setup.vault.state.tokens
    shown = repr(setup.grants.all) + repr(session)
    assert all(word not in shown for word in (token, "the-jwt", "first"))
    assert PATH not in repr(setup.grants.all)
    assert POD.uid in shown


async def test_a_token_that_is_gone_is_replaced_also_where_vault_only_denies(
    setup: BrokerSetup,
) -> None:
    setup.vault.state.plain = True
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.tokens.clear()
        await setup.clock.advance(FRESH_S)
        assert (await setup.broker.read(session, PATH)).document.version == 1
        assert (setup.calls["login"], setup.calls["lookup"]) == (2, 1)


async def test_a_denial_is_settled_once_and_then_believed(setup: BrokerSetup) -> None:
    setup.allow(PATH, "secret/app/none")
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        await setup.clock.advance(FRESH_S)
        for number in range(10):
            with pytest.raises(VaultDeniedError):
                await setup.broker.read(session, f"secret/others/{number}")
        assert (setup.calls["login"], setup.calls["lookup"]) == (1, 1)


async def test_a_token_that_may_renew_itself_and_not_look_is_believed(setup: BrokerSetup) -> None:
    """As with the least policy that our page of security shows."""
    setup.vault.refuses = {"lookup"}
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        for _ in range(3):
            await setup.clock.advance(PROVED_S + 1)
            with pytest.raises(VaultDeniedError):
                await setup.broker.read(session, "secret/others/1")
        assert setup.calls["login"] == 1


@pytest.mark.parametrize("path", ["secret/metadata/app", "database/creds/none"])
async def test_a_refusal_for_a_pods_own_client_is_settled_too(
    setup: BrokerSetup, path: str
) -> None:
    setup.vault.state.plain = True
    asked = VaultExchange(method="GET", path=path)
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        setup.vault.state.tokens.clear()
        await setup.clock.advance(PROVED_S + 1)
        answer = await setup.broker.exchange(session, asked)
        assert setup.calls["login"] == 2
        # By then it is what the policy says, and is not asked about again.
        assert answer.status == 403
        await setup.clock.advance(1)
        assert (await setup.broker.exchange(session, asked)).status == 403
        assert (setup.calls["login"], setup.calls["lookup"]) == (2, 1)


async def test_what_is_lent_to_a_pods_own_client_outlives_a_token_that_is_gone(
    setup: BrokerSetup,
) -> None:
    state = setup.vault.state
    state.plain = True
    state.engines["database/"] = Engine(None)
    state.lease_s["database/creds/app"] = 60
    setup.allow(PATH, "database/creds/app")
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        state.tokens.clear()
        await setup.clock.advance(PROVED_S + 1)
        reading = await setup.broker.read_engine(session, "database/creds/app")
        assert reading.leased is not None
        assert setup.calls["login"] == 2


async def test_a_token_that_may_not_look_itself_up_is_replaced_once_and_not_lost(
    setup: BrokerSetup,
) -> None:
    setup.vault.refuses = {"lookup", "renew"}
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (old,) = setup.vault.state.tokens
        await setup.clock.advance(FRESH_S)
        for number in range(10):
            with pytest.raises(VaultDeniedError):
                await setup.broker.read(session, f"secret/others/{number}")
        await setup.clock.advance(1.0)
        assert setup.calls["login"] == 2
        assert setup.vault.state.revoked == [old]


async def test_what_cannot_be_settled_is_an_outage(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        await setup.clock.advance(FRESH_S)
        setup.vault.state.plain = True
        setup.vault.state.tokens.clear()
        setup.vault.state.reviews = False
        assert (await setup.broker.read(session, PATH)).stale
        setup.vault.state.reviews = True
        await setup.clock.advance(20.0)
        assert not (await setup.broker.read(session, PATH)).stale
