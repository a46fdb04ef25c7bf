import pytest
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.leases import HeldLease, Lease, hold
from nemutator_agent.credentials.vault.revocations import (
    LEAST_AT_ONCE,
    MOST,
    MOST_AT_ONCE,
    at_once,
)
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.brokers import BrokerSetup
from tests.fakes.clocks import ManualClock
from tests.fakes.peers import POD
from tests.fakes.vaults import MemoryVault

ACCOUNT = account(POD, None)


def held(setup: BrokerSetup, token: str = "hvs.x", *, ttl_s: float = 3600) -> HeldLease:
    setup.allow()
    setup.vault.state.tokens[token] = ACCOUNT.role
    return hold(Lease(Secret(token), ttl_s, renewable=True), setup.clock.monotonic(), roll=0)


async def test_a_token_is_revoked_at_once() -> None:
    setup = BrokerSetup()
    async with setup.running():
        setup.revocations.add(ACCOUNT, held(setup))
        await setup.clock.advance(0)
        assert setup.vault.state.revoked == ["hvs.x"]
        assert setup.meter.value(names.REVOCATIONS_WAITING) == 0
    assert setup.grants.of("revoke") == ["granted"]


async def test_a_hundred_at_a_time_all_end() -> None:
    setup = BrokerSetup()
    async with setup.running():
        for number in range(100):
            setup.revocations.add(ACCOUNT, held(setup, f"hvs.{number}"))
        while setup.meter.value(names.REVOCATIONS_WAITING):
            await setup.clock.advance(0)
        assert len(setup.vault.state.revoked) == 100


class SlowVault(MemoryVault):
    """Each of its answers takes 2 s."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock
        self.under_way = 0
        self.most_under_way = 0

    async def before(self) -> None:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await self._clock.sleep(2.0)

    async def after(self) -> None:
        self.under_way -= 1


async def test_a_drained_node_revokes_in_time_also_where_each_call_takes_long() -> None:
    clock = ManualClock()
    vault = SlowVault(clock)
    setup = BrokerSetup(vault=vault, clock=clock)
    async with setup.running():
        for number in range(110):
            setup.revocations.add(ACCOUNT, held(setup, f"hvs.{number}"))
        await clock.advance(30.0)
        assert len(vault.state.revoked) == 110
        assert LEAST_AT_ONCE < vault.most_under_way <= MOST_AT_ONCE


@pytest.mark.parametrize(
    ("waiting", "each_s", "calls"),
    [(0, 1.0, 2), (1, 60.0, 3), (110, 0.01, 2), (110, 2.0, 11), (1000, 2.0, 16)],
)
def test_as_many_at_once_as_it_takes_to_end_in_time(
    waiting: int, each_s: float, calls: int
) -> None:
    assert at_once(waiting, each_s) == calls


async def test_a_token_that_may_not_be_revoked_is_left_to_its_end_at_once() -> None:
    setup = BrokerSetup()
    setup.vault.refuses = {"revoke"}
    async with setup.running():
        setup.revocations.add(ACCOUNT, held(setup))
        await setup.clock.advance(60)
        assert setup.meter.value(names.REVOCATIONS_WAITING) == 0
    assert setup.grants.of("revoke") == ["denied"]
    assert setup.meter.value(names.REVOCATIONS_DROPPED, reason="refused") == 1


async def test_during_an_outage_it_is_tried_again_three_times_within_30_s() -> None:
    setup = BrokerSetup()
    setup.vault.outage = "down"
    async with setup.running():
        setup.revocations.add(ACCOUNT, held(setup))
        await setup.clock.advance(29)
        assert len(setup.grants.of("revoke")) >= 3
        setup.vault.outage = None
        await setup.clock.advance(11)
        assert setup.vault.state.revoked == ["hvs.x"]
    assert setup.grants.of("revoke")[-1] == "granted"


async def test_while_vault_is_not_asked_it_waits_and_is_not_recorded_as_tried() -> None:
    setup = BrokerSetup()
    setup.vault.outage = "sealed"
    async with setup.running():
        setup.revocations.add(ACCOUNT, held(setup))
        await setup.clock.advance(300)
        assert setup.grants.of("revoke") == ["failed"]
        setup.vault.outage = None
        await setup.clock.advance(12)
        assert setup.vault.state.revoked == ["hvs.x"]


async def test_a_token_that_is_gone_is_revoked_already() -> None:
    setup = BrokerSetup()
    async with setup.running():
        ending = held(setup)
        setup.vault.state.tokens.clear()
        setup.revocations.add(ACCOUNT, ending)
        await setup.clock.advance(1)
    assert setup.grants.of("revoke") == ["granted"]


async def test_what_has_ended_by_itself_is_not_tried_for_ever() -> None:
    setup = BrokerSetup()
    setup.vault.outage = "down"
    async with setup.running():
        setup.revocations.add(ACCOUNT, held(setup, ttl_s=60))
        await setup.clock.advance(80)
        assert setup.meter.value(names.REVOCATIONS_DROPPED, reason="expired") == 1
        assert setup.meter.value(names.REVOCATIONS_WAITING) == 0


async def test_no_more_wait_than_there_is_room_for() -> None:
    setup = BrokerSetup()
    for number in range(MOST + 3):
        setup.revocations.add(ACCOUNT, held(setup, f"hvs.{number}"))
    assert setup.meter.value(names.REVOCATIONS_WAITING) == MOST
    assert setup.meter.value(names.REVOCATIONS_DROPPED, reason="queue_full") == 3
