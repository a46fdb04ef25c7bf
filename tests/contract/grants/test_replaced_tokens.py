"""What the credentials process records of its tokens, as the brain folds it into leases."""

import pytest
from nemutator_controller.grants.token_leases import TokenLease, fold

from tests.fakes.brokers import BrokerSetup

PATH = "secret/app"


def lease_of(setup: BrokerSetup) -> TokenLease:
    lease = None
    for grant in setup.grants.all:
        lease = fold(lease, grant)
    assert lease is not None
    return lease


@pytest.fixture
def setup() -> BrokerSetup:
    made = BrokerSetup()
    made.allow(PATH)
    made.vault.state.write(PATH, {"a": 1})
    return made


async def test_a_token_that_took_the_place_of_another_is_shown_as_live(setup: BrokerSetup) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (old,) = setup.vault.state.tokens
        setup.allow(PATH, ttl_s=1000)  # its longest life is near
        await setup.clock.advance(2420)
        assert setup.vault.state.revoked == [old]
        assert lease_of(setup).state(now=setup.clock.now()) == "active"
        setup.broker.close(session)
        await setup.clock.advance(1)
        assert setup.vault.state.tokens == {}
        assert lease_of(setup).state(now=setup.clock.now()) == "revoked"


async def test_a_late_end_of_the_token_before_does_not_end_the_one_of_now(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        session = setup.session()
        await setup.broker.read(session, PATH)
        (old,) = setup.vault.state.tokens
        setup.vault.outage = "down"
        setup.broker.close(session)
        await setup.clock.advance(20)
        setup.vault.outage = None
        await setup.broker.read(setup.session(), PATH)
        await setup.clock.advance(20)
        assert setup.vault.state.revoked == [old]
        assert lease_of(setup).state(now=setup.clock.now()) == "active"
