"""A pod's whole life, killed before each of its steps."""

import asyncio

import pytest

from tests.agent.credentials.vault.mortal_machine import LENT, PATH, Machine, recovered
from tests.fakes.brokers import FRESH_S, ORPHANS_S, BrokerSetup
from tests.fakes.ledgers import Fate
from tests.fakes.peers import POD


async def a_day(setup: BrokerSetup, machine: Machine) -> None:
    """A pod's whole life: login, renewal, a replaced token, a new login, and its end."""
    machine.allow(POD, ttl_s=120)
    session = setup.session()
    await setup.broker.read(session, PATH)
    await setup.broker.read(session, LENT)
    machine.allow(POD, ttl_s=50)
    await setup.clock.advance(85)
    machine.vault.tokens.clear()
    machine.vault.leases.clear()
    await setup.clock.advance(FRESH_S)
    await setup.broker.read(session, PATH)
    setup.broker.close(session)
    await setup.clock.advance(1)


async def killed_before(step: int | None, machine: Machine) -> int:
    """How many steps it took until then; None is the whole day."""
    fate = Fate(step)
    async with machine.life(fate) as setup, asyncio.TaskGroup() as tasks:
        day = tasks.create_task(a_day(setup, machine))
        killed = tasks.create_task(fate.dead.wait())
        await asyncio.wait([day, killed], return_when=asyncio.FIRST_COMPLETED)
        day.cancel()
        killed.cancel()
    return fate.steps


async def test_a_day_has_its_steps(machine: Machine) -> None:
    assert await killed_before(None, machine) == STEPS
    # 1 + 1 in the morning, the one after, 2 of them ended by Vault.
    assert machine.vault.calls["login"] == 3
    assert machine.alive == set()


STEPS = 52


@pytest.mark.parametrize("again", [True, False], ids=["published again", "ended"])
@pytest.mark.parametrize("step", range(STEPS))
async def test_wherever_it_is_killed_no_token_and_no_lease_is_left_that_it_knew(
    machine: Machine, step: int, again: bool
) -> None:
    await killed_before(step, machine)
    alive, logins = machine.alive, machine.vault.calls["login"]
    async with machine.life() as second:
        known = {token.token.reveal() for token in second.left}
        tokens = {token.entry: token.token.reveal() for token in second.left}
        lent = {lease.lease: tokens[lease.token] for lease in second.left_leases}
        session = second.session() if again else None
        if session is not None:
            of_token = session.held.lease.token.reveal() if session.held is not None else ""
            assert set(session.recovered) == {one for one, of in lent.items() if of == of_token}
            await second.broker.read(session, PATH)
            # One that it knew and that is good for something is all that the pod needs.
            assert machine.vault.calls["login"] == logins + (not known & alive)
        await second.clock.advance(ORPHANS_S + 5)
        held = session.held if session is not None else None
        unknown = machine.alive - ({held.lease.token.reveal()} if held is not None else set())
        assert unknown == alive - known
        # What it had lent is renewed for the pod, or has ended.
        left = {one for one in lent if one in machine.vault.leases}
        assert left <= set(session.recovered if session is not None else ())
        assert len(unknown) <= recovered(second, "unknown") <= 1
