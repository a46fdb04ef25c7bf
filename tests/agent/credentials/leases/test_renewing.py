"""The node's leases, from the first reading to the end of the pod."""

import json

import pytest
from nemutator_agent.credentials.leases.kept_documents import LARGEST
from nemutator_agent.credentials.leases.renewing import POLL_S
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import UnsupportedSecretError
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_common import names

from tests.fakes.brokers import BrokerSetup
from tests.fakes.vault_states import Engine

PATH = "database/creds/shop"
TERM_S = 90


@pytest.fixture
def setup() -> BrokerSetup:
    setup = BrokerSetup()
    state = setup.vault.state
    state.engines["database/"] = Engine(None)
    state.lease_s[PATH] = TERM_S
    setup.allow(PATH)
    return setup


async def user(setup: BrokerSetup, session: VaultSession) -> str:
    value = (await setup.broker.read(session, PATH)).document.value("username")
    assert value is not None
    return value.reveal()


async def pass_time(setup: BrokerSetup, seconds: float) -> None:
    """In steps, so that what is due is done when it is."""
    for _ in range(int(seconds / POLL_S)):
        await setup.clock.advance(POLL_S)


async def test_all_keys_of_what_is_lent_are_of_one_lease(setup: BrokerSetup) -> None:
    session = setup.session()
    async with setup.running():
        first = await user(setup, session)
        assert await user(setup, session) == first
        again = await setup.broker.read_again(session, PATH)
        assert again.value("username") == session.leased[PATH].document.value("username")
        assert len(setup.vault.state.leases) == 1


async def test_a_lease_is_renewed_for_as_long_as_its_pod_lives(setup: BrokerSetup) -> None:
    session = setup.session()
    async with setup.running():
        first = await user(setup, session)
        await pass_time(setup, 10 * TERM_S)
        assert await user(setup, session) == first
        assert 10 <= setup.calls["renew a lease"] <= 20
        assert setup.meter.value(names.LEASED_SECRETS) == 1
        setup.broker.close(session)
        await pass_time(setup, 4)
        assert setup.vault.state.leases == {}
        assert session.leased == {}


@pytest.mark.parametrize("how", ["refused", "lost"])
async def test_what_is_not_renewed_is_replaced_before_it_ends(setup: BrokerSetup, how: str) -> None:
    session, state = setup.session(), setup.vault.state
    async with setup.running():
        first = await user(setup, session)
        state.renews_leases = False
        if how == "lost":
            state.leases.clear()
        await pass_time(setup, TERM_S - 10)
        assert await user(setup, session) != first
        # Who still uses the old one can, until its end.
        assert len(state.leases) == (2 if how == "refused" else 1)
    reasons = [grant.reason for grant in setup.grants.all if grant.operation == "lease"]
    assert reasons[0] == ("not renewed" if how == "refused" else "lost")
    assert reasons[1] == "replaced"


async def test_while_vault_is_away_a_lease_is_good_until_its_end(setup: BrokerSetup) -> None:
    session = setup.session()
    async with setup.running():
        first = await user(setup, session)
        setup.vault.outage = "sealed"
        await pass_time(setup, TERM_S - 6)
        assert await user(setup, session) == first
        setup.vault.outage = None
        await pass_time(setup, TERM_S)
        assert await user(setup, session) == first or len(setup.vault.state.leases) == 2


async def test_what_is_lost_is_replaced_once_vault_is_back(setup: BrokerSetup) -> None:
    session, state = setup.session(), setup.vault.state
    async with setup.running():
        first = await user(setup, session)
        state.leases.clear()
        state.lending_fails = True
        await pass_time(setup, TERM_S)
        state.lending_fails = False
        await pass_time(setup, TERM_S)
        assert len(state.leases) >= 1
        assert await user(setup, session) != first


async def test_vault_keeps_what_it_lends_with_the_token_that_it_was_read_with(
    setup: BrokerSetup,
) -> None:
    session, state = setup.session(), setup.vault.state
    async with setup.running():
        setup.vault.state.renews_leases = False
        await user(setup, session)
        setup.vault.outage = "sealed"
        await pass_time(setup, POLL_S)
        assert state.cubbyholes == {}
        setup.vault.outage = None
        await pass_time(setup, TERM_S)
        # The first, and the one that took its place.
        assert setup.meter.value(names.KEPT_LEASES, result="kept") == 2
        assert session.held is not None
        (kept,) = state.cubbyholes[session.held.lease.token.reveal()].values()
        assert json.loads(kept["content"])["username"] == await user(setup, session)
        setup.broker.close(session)
        await pass_time(setup, POLL_S)
        assert state.cubbyholes == {}


async def test_what_is_large_is_not_kept(setup: BrokerSetup) -> None:
    session = setup.session()
    async with setup.running():
        await user(setup, session)
        session.leased[PATH].document = Document.of({"word": "x" * LARGEST}, None)
        await pass_time(setup, 2 * POLL_S)
        assert setup.calls.get("cubbyhole", 0) == 0
    assert setup.meter.value(names.KEPT_LEASES, result="too_large") == 1


async def test_with_another_token_another_one_is_read(setup: BrokerSetup) -> None:
    """A lease ends with the token that it was read with."""
    session, state = setup.session(), setup.vault.state
    async with setup.running():
        first = await user(setup, session)
        state.tokens.clear()
        state.leases.clear()
        await pass_time(setup, TERM_S)
        assert await user(setup, session) != first
        assert len(state.leases) >= 1


@pytest.mark.parametrize("path", ["auth/token/lookup-self", "sys/health"])
async def test_vaults_own_paths_are_no_secrets(setup: BrokerSetup, path: str) -> None:
    setup.vault.state.engines["sys/"] = Engine(None, answers={"health": {"data": {"x": 1}}})
    setup.allow(PATH, path)
    async with setup.running():
        with pytest.raises(UnsupportedSecretError, match="no engine of secrets"):
            await setup.broker.read(setup.session(), path)


async def test_an_answer_that_shows_the_pods_token_is_no_secret(setup: BrokerSetup) -> None:
    session = setup.session()
    setup.vault.state.lease_s.clear()
    async with setup.running():
        setup.vault.state.engines["database/"].answers["creds/shop"] = {"data": {}}
        await setup.broker.read(session, PATH)
        assert session.held is not None
        token = session.held.lease.token.reveal()
        setup.vault.state.engines["database/"].answers["creds/shop"] = {"data": {"seen": token}}
        with pytest.raises(UnsupportedSecretError, match="has the token"):
            await setup.broker.read_again(session, PATH)
