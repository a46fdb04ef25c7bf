from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.leases import HeldLease, Lease, hold
from nemutator_agent.credentials.vault.revocations import MOST
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.broking import Standing
from tests.fakes.callers import POD

ACCOUNT = account(POD, None)


def held(standing: Standing, token: str = "hvs.x", *, ttl_s: float = 3600) -> HeldLease:
    standing.allow()
    standing.vault.state.tokens[token] = ACCOUNT.role
    return hold(Lease(Secret(token), ttl_s, renewable=True), standing.clock.monotonic(), roll=0)


async def test_a_token_is_revoked_at_once() -> None:
    standing = Standing()
    async with standing.running():
        standing.revocations.add(ACCOUNT, held(standing))
        await standing.clock.advance(0)
        assert standing.vault.state.revoked == ["hvs.x"]
        assert standing.meter.value(names.REVOCATIONS_WAITING) == 0
    assert standing.grants.of("revoke") == ["granted"]


async def test_a_hundred_at_a_time_all_end() -> None:
    standing = Standing()
    async with standing.running():
        for number in range(100):
            standing.revocations.add(ACCOUNT, held(standing, f"hvs.{number}"))
        while standing.meter.value(names.REVOCATIONS_WAITING):
            await standing.clock.advance(0)
        assert len(standing.vault.state.revoked) == 100


async def test_a_token_that_may_not_be_revoked_is_left_to_its_end_at_once() -> None:
    standing = Standing()
    standing.vault.refuses = {"revoke"}
    async with standing.running():
        standing.revocations.add(ACCOUNT, held(standing))
        await standing.clock.advance(60)
        assert standing.meter.value(names.REVOCATIONS_WAITING) == 0
    assert standing.grants.of("revoke") == ["denied"]
    assert standing.meter.value(names.REVOCATIONS_DROPPED, reason="refused") == 1


async def test_during_an_outage_it_is_tried_again_three_times_within_30_s() -> None:
    standing = Standing()
    standing.vault.outage = "sealed"
    async with standing.running():
        standing.revocations.add(ACCOUNT, held(standing))
        await standing.clock.advance(29)
        assert len(standing.grants.of("revoke")) >= 3
        standing.vault.outage = None
        await standing.clock.advance(11)
        assert standing.vault.state.revoked == ["hvs.x"]
    assert standing.grants.of("revoke")[-1] == "granted"


async def test_a_token_that_is_gone_is_revoked_already() -> None:
    standing = Standing()
    async with standing.running():
        ending = held(standing)
        standing.vault.state.tokens.clear()
        standing.revocations.add(ACCOUNT, ending)
        await standing.clock.advance(1)
    assert standing.grants.of("revoke") == ["granted"]


async def test_what_has_ended_by_itself_is_not_tried_for_ever() -> None:
    standing = Standing()
    standing.vault.outage = "down"
    async with standing.running():
        standing.revocations.add(ACCOUNT, held(standing, ttl_s=60))
        await standing.clock.advance(80)
        assert standing.meter.value(names.REVOCATIONS_DROPPED, reason="expired") == 1
        assert standing.meter.value(names.REVOCATIONS_WAITING) == 0


async def test_no_more_wait_than_there_is_room_for() -> None:
    standing = Standing()
    for number in range(MOST + 3):
        standing.revocations.add(ACCOUNT, held(standing, f"hvs.{number}"))
    assert standing.meter.value(names.REVOCATIONS_WAITING) == MOST
    assert standing.meter.value(names.REVOCATIONS_DROPPED, reason="queue_full") == 3
