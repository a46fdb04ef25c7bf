import asyncio

import pytest
from nemutator_agent.credentials.vault.broker import LOOK_S, REFUSED_S
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

from tests.fakes.broking import FRESH_S, STALE_S, Standing
from tests.fakes.callers import OTHER_POD, POD

PATH = "secret/app/db"


@pytest.fixture
def standing() -> Standing:
    made = Standing()
    made.vault.state.write(PATH, {"password": "first"})
    made.allow(PATH)
    return made


async def test_a_pod_logs_in_once_and_reads_as_itself(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        reading = await standing.broker.read(session, PATH)
        assert reading.document.data() == {"password": "first"}
        assert (reading.document.version, reading.cached, reading.stale) == (1, False, False)
        assert standing.calls == {"login": 1, "mount": 1, "read": 1}
    (login,) = standing.grants.all
    assert (login.operation, login.result, login.role) == ("login", "granted", "shop.api")
    assert login.expires_at == standing.clock.now() + 3600


async def test_what_is_fresh_is_not_asked_for_again(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.state.write(PATH, {"password": "second"})
        await standing.clock.advance(FRESH_S - 1)
        again = await standing.broker.read(session, PATH)
        assert (again.cached, again.document.version) == (True, 1)
        await standing.clock.advance(1)
        later = await standing.broker.read(session, PATH)
        assert (later.cached, later.document.version) == (False, 2)
        # The mount was known by then.
        assert standing.calls == {"login": 1, "mount": 1, "read": 2}


async def test_equal_questions_at_the_same_time_are_one_call(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        standing.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            readers = [tasks.create_task(standing.broker.read(session, PATH)) for _ in range(20)]
            await asyncio.sleep(0)
            standing.vault.open.set()
        assert {reader.result().document.version for reader in readers} == {1}
        assert standing.calls == {"login": 1, "mount": 1, "read": 1}


async def test_a_reader_who_leaves_takes_nothing_from_those_who_wait(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        standing.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(standing.broker.read(session, PATH))
            second = tasks.create_task(standing.broker.read(session, PATH))
            await asyncio.sleep(0)
            first.cancel()
            await asyncio.sleep(0)
            standing.vault.open.set()
        assert second.result().document.version == 1


async def test_two_pods_share_neither_token_nor_answers(standing: Standing) -> None:
    standing.allow("secret/app/web", pod=OTHER_POD)
    standing.vault.state.write("secret/app/web", {"word": "of web"})
    async with standing.running():
        mine, others = standing.session(), standing.session(OTHER_POD)
        await standing.broker.read(mine, PATH)
        with pytest.raises(VaultDeniedError):
            await standing.broker.read(others, PATH)
        assert len(set(standing.vault.state.tokens)) == 2


async def test_a_denial_evicts_at_once(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.allow("secret/app/else")
        await standing.clock.advance(FRESH_S)
        with pytest.raises(VaultDeniedError):
            await standing.broker.read(session, PATH)
        # Even an outage does not bring it back.
        await standing.clock.advance(REFUSED_S)
        standing.vault.outage = "sealed"
        with pytest.raises(VaultUnavailableError):
            await standing.broker.read(session, PATH)


async def test_what_was_deleted_is_not_given_any_more(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.state.delete(PATH)
        await standing.clock.advance(FRESH_S)
        with pytest.raises(SecretMissingError):
            await standing.broker.read(session, PATH)
        assert not session.kept


@pytest.mark.parametrize("outage", ["timeout", "down", "sealed", "busy"])
async def test_during_an_outage_the_last_answer_counts_for_a_while(
    standing: Standing, outage: Outage
) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.outage = outage
        await standing.clock.advance(FRESH_S)
        reading = await standing.broker.read(session, PATH)
        assert (reading.stale, reading.document.version) == (True, 1)
        await standing.clock.advance(STALE_S - FRESH_S)
        with pytest.raises(VaultUnavailableError):
            await standing.broker.read(session, PATH)
    assert standing.meter.value(names.CREDENTIAL_READS, result="stale") == 1


@pytest.mark.parametrize("outage", ["tls", "nonsense"])
async def test_while_a_stranger_answers_for_vault_nothing_old_counts(
    standing: Standing, outage: Outage
) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.outage = outage
        await standing.clock.advance(FRESH_S)
        with pytest.raises(VaultUnavailableError):
            await standing.broker.read(session, PATH)


async def test_a_refused_login_is_not_repeated_for_every_request(standing: Standing) -> None:
    async with standing.running():
        session = standing.session(role="nobody")
        for _ in range(5):
            with pytest.raises(LoginRefusedError, match="invalid role name"):
                await standing.broker.read(session, PATH)
        assert standing.calls == {"login": 1}
        await standing.clock.advance(REFUSED_S)
        with pytest.raises(LoginRefusedError):
            await standing.broker.read(session, PATH)
        assert standing.calls == {"login": 2}
        # Another token of kubelet's is another try.
        standing.broker.refresh(session, Secret("newer"))
        with pytest.raises(LoginRefusedError):
            await standing.broker.read(session, PATH)
        assert standing.calls == {"login": 3}
    assert standing.grants.of("login") == ["denied"] * 3


async def test_a_refused_reading_is_not_repeated_for_every_request(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        for path, error in (
            ("secret/other", VaultDeniedError),
            ("secret/app/none", SecretMissingError),
        ):
            standing.allow(PATH, "secret/app/none")
            for _ in range(5):
                with pytest.raises(error):
                    await standing.broker.read(session, path)
        assert standing.calls == {"login": 1, "mount": 2, "read": 2}
        standing.vault.state.write("secret/app/none", {"now": "there"})
        await standing.clock.advance(REFUSED_S)
        assert (await standing.broker.read(session, "secret/app/none")).document.version == 1
    counted = standing.meter.value(names.CREDENTIAL_READS, result="denied")
    assert counted == 5


async def test_a_refused_login_evicts_what_was_kept(standing: Standing) -> None:
    standing.allow(PATH, ttl_s=30)
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.state.roles.clear()
        standing.vault.state.tokens.clear()
        await standing.clock.advance(FRESH_S)
        with pytest.raises(LoginRefusedError):
            await standing.broker.read(session, PATH)
        assert not session.kept


async def test_without_a_token_of_kubelets_nobody_logs_in(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        session.jwt = None
        with pytest.raises(NoAccountTokenError):
            await standing.broker.read(session, PATH)
        assert standing.calls == {}


async def test_a_token_that_vault_forgot_is_replaced_once(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.state.tokens.clear()
        await standing.clock.advance(FRESH_S)
        assert (await standing.broker.read(session, PATH)).document.version == 1
        assert standing.calls["login"] == 2


class Forgetting(dict[str, str]):
    def __setitem__(self, token: str, role: str) -> None:
        pass


async def test_a_vault_that_forgets_every_token_is_a_denial(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        await standing.clock.advance(FRESH_S)
        standing.vault.state.tokens = Forgetting()
        with pytest.raises(TokenGoneError):
            await standing.broker.read(session, PATH)
        assert standing.calls["login"] == 2
        assert not session.kept


async def test_a_token_is_renewed_at_two_thirds_of_its_life(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        await standing.clock.advance(2380)
        assert "renew" not in standing.calls
        await standing.clock.advance(40)
        assert standing.calls["renew"] == 1
        # Long after its first end.
        await standing.clock.advance(2410)
        assert standing.calls["renew"] == 2
        await standing.broker.read(session, PATH)
        assert standing.calls["login"] == 1
    assert standing.grants.of("renew") == ["granted", "granted"]


async def test_a_token_that_cannot_be_renewed_is_replaced_by_a_login(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.state.tokens.clear()
        await standing.clock.advance(2420)
        assert standing.calls["login"] == 2
        assert list(standing.vault.state.tokens.values()) == ["shop.api"]
    assert standing.grants.of("renew") == ["denied"]


async def test_a_token_that_may_not_renew_itself_serves_until_its_end(standing: Standing) -> None:
    """As with a role whose tokens have no default policy."""
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        (token,) = standing.vault.state.tokens
        standing.vault.refuses = {"renew", "revoke"}
        await standing.clock.advance(3500)
        await standing.broker.read(session, PATH)
        assert (standing.calls["login"], standing.grants.of("renew")) == (1, ["denied"])
        assert session.held is not None
        assert session.held.lease.token.reveal() == token
        await standing.clock.advance(100)
        await standing.broker.read(session, PATH)
        assert standing.calls["login"] == 2


async def test_near_its_longest_life_a_token_is_replaced_and_the_old_one_revoked(
    standing: Standing,
) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        (old,) = standing.vault.state.tokens
        standing.allow(PATH, ttl_s=1000)
        await standing.clock.advance(2420)
        assert standing.calls["login"] == 2
        assert standing.vault.state.revoked == [old]


async def test_a_renewal_during_an_outage_is_tried_again_and_not_in_a_hurry(
    standing: Standing,
) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        standing.vault.outage = "down"
        await standing.clock.advance(2600)
        failed = standing.meter.value(names.VAULT_CALLS, operation="renew", result="down")
        assert 2 <= failed <= 10
        standing.vault.outage = None
        await standing.clock.advance(60 + LOOK_S)
        assert standing.grants.of("renew")[-1] == "granted"
        assert standing.calls["login"] == 1


async def test_when_a_pod_ends_its_token_is_revoked_and_nothing_is_kept(
    standing: Standing,
) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        (token,) = standing.vault.state.tokens
        standing.broker.close(session)
        await standing.clock.advance(1)
        assert standing.vault.state.revoked == [token]
        assert (session.kept, session.jwt, session.held) == ({}, None, None)
        assert standing.broker.open(session.account) is not session
    assert standing.grants.of("revoke") == ["granted"]


async def test_a_login_that_ends_after_its_pod_is_revoked_too(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        standing.vault.open.clear()
        async with asyncio.TaskGroup() as tasks:
            reader = tasks.create_task(_refused(standing, session))
            await standing.clock.advance(0)
            standing.broker.close(session)
            standing.vault.open.set()
        assert isinstance(reader.result(), NoAccountTokenError)
        await standing.clock.advance(1)
        assert standing.vault.state.tokens == {}
        assert len(standing.vault.state.revoked) == 1


async def _refused(standing: Standing, session: VaultSession) -> BaseException:
    with pytest.raises(NoAccountTokenError) as raised:
        await standing.broker.read(session, PATH)
    return raised.value


async def test_no_record_has_a_value_a_token_or_a_path(standing: Standing) -> None:
    async with standing.running():
        session = standing.session()
        await standing.broker.read(session, PATH)
        (token,) = standing.vault.state.tokens
    told = repr(standing.grants.all) + repr(session)
    assert all(word not in told for word in (token, "the-jwt", "first"))
    assert PATH not in repr(standing.grants.all)
    assert POD.uid in told
