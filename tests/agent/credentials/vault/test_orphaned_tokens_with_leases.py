"""Over the end of the process: what becomes of what Vault had lent."""

import pytest
from nemutator_agent.credentials.vault.orphaned_tokens import POLL_S
from nemutator_common import names

from tests.agent.credentials.vault.mortal_machine import LENT, PATH, TERM_S, Machine
from tests.fakes.brokers import home_of
from tests.fakes.peers import POD


async def test_a_pod_that_is_published_again_keeps_what_it_was_lent(machine: Machine) -> None:
    async with machine.life() as first:
        before = await first.broker.read(first.session(), LENT)
        (lease,) = machine.vault.leases
        # It is renewed in this life, and goes on from there.
        await first.clock.advance(TERM_S)
    async with machine.life() as second:
        session = second.session()
        assert session.holds(lease)
        after = await second.broker.read(session, LENT)
        assert after.document == before.document
        # From now on it is like any other that is lent: renewed, and replaced before it ends.
        await second.clock.advance(3 * TERM_S)
        assert (await second.broker.read(session, LENT)).document == before.document
        assert list(machine.vault.leases) == [lease]
        assert second.meter.value(names.LEASED_SECRETS) == 1
        machine.vault.renews_leases = False
        await second.clock.advance(TERM_S)
        assert (await second.broker.read(session, LENT)).document != before.document
        second.broker.close(session)
        await second.clock.advance(1)
        assert machine.vault.leases == {}
    async with machine.life() as third:
        assert (third.left, third.left_leases) == ((), ())


async def test_what_vault_does_not_keep_is_lent_once_more(machine: Machine) -> None:
    machine.vault.allows_cubbyholes = False
    async with machine.life() as first:
        await first.broker.read(first.session(), LENT)
        (lease,) = machine.vault.leases
        await first.clock.advance(TERM_S)
        # It is tried once, because a policy is not changed every moment.
        assert machine.vault.calls["cubbyhole"] == 1
    async with machine.life() as second:
        session = second.session()
        assert session.holds(lease)
        assert second.meter.value(names.RECOVERED_LEASES) == 1
        # What it lends is not known any more, so who asks gets another; the old one is renewed, too.
        await second.broker.read(session, LENT)
        renewals = machine.vault.calls["renew a lease"]
        await second.clock.advance(3 * TERM_S)
        assert machine.vault.calls["renew a lease"] >= renewals + 6
        assert len(machine.vault.leases) == 2
        assert second.meter.value(names.LEASED_SECRETS) == 2
        second.broker.close(session)
        await second.clock.advance(1)
        assert machine.vault.leases == {}
    async with machine.life() as third:
        assert (third.left, third.left_leases) == ((), ())


async def test_what_was_lent_ends_with_a_pod_of_which_nothing_is_left(machine: Machine) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), LENT)
    async with machine.life() as second:
        second.ended_pods.removed.add(home_of(POD))
        await second.clock.advance(POLL_S)
        assert machine.vault.leases == {}


@pytest.mark.parametrize("how", ["lost", "refused", "superseded", "released"])
async def test_a_lease_from_before_is_forgotten_once_nothing_can_be_done_for_it(
    machine: Machine, how: str
) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), LENT)
        (lease,) = machine.vault.leases
    async with machine.life() as second:
        session = second.session()
        match how:
            case "lost":
                machine.vault.leases.clear()
            case "refused":
                machine.vault.renews_leases = False
            case "superseded":
                machine.vault.tokens.clear()
                await second.broker.read(session, PATH)
            case "released":
                second.broker.release(session, lease)
        await second.clock.advance(TERM_S)
        assert session.recovered == {}
        assert second.grants.of("lease") == (["denied"] if how in ("lost", "refused") else [])
    async with machine.life() as third:
        assert third.left_leases == ()


async def test_while_vault_is_away_a_lease_from_before_is_kept(machine: Machine) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), LENT)
        (lease,) = machine.vault.leases
    async with machine.life() as second:
        session = second.session()
        second.vault.outage = "down"
        await second.clock.advance(TERM_S - 10)
        second.vault.outage = None
        await second.clock.advance(10)
        assert session.holds(lease)
        assert second.grants.of("lease")[-1] == "granted"
