import asyncio

import pytest
from nemutator_agent.credentials.vault.broker import DENIAL_S, POLL_S
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    NoAccountTokenError,
    Outage,
    SecretMissingError,
    TokenGoneError,
    VaultDeniedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.brokers import FRESH_S, STALE_S, BrokerSetup
from tests.fakes.peers import OTHER_POD, POD

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
        assert not session.cache.documents


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


@pytest.mark.parametrize("outage", ["tls", "nonsense"])
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
        assert not session.cache.documents


async def test_without_a_token_of_kubelets_nobody_logs_in(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        session.jwt = None
        with pytest.raises(NoAccountTokenError):
            await setup.broker.read(session, PATH)
        assert setup.calls == {}


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
        assert not session.cache.documents


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
        assert (session.cache.documents, session.jwt, session.held) == ({}, None, None)
        assert setup.broker.open(session.account) is not session
    assert setup.grants.of("revoke") == ["granted"]


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


async def test_no_record_has_a_value_a_token_or_a_path(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (token,) = setup.vault.state.tokens
    told = repr(setup.grants.all) + repr(session)
    assert all(word not in told for word in (token, "the-jwt", "first"))
    assert PATH not in repr(setup.grants.all)
    assert POD.uid in told
