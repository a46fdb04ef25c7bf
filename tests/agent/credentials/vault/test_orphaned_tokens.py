"""Over the end of the process: what is left of its tokens, wherever it is killed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.credentials.vault.orphaned_tokens import POLL_S
from nemutator_agent.publications import PublishedPod
from nemutator_common import names

from tests.fakes.brokers import FRESH_S, ORPHANS_S, BrokerSetup, home_of
from tests.fakes.clocks import ManualClock
from tests.fakes.ledgers import Fate, MortalLedger, MortalVault
from tests.fakes.meters import MemoryMeter
from tests.fakes.peers import OTHER_POD, POD
from tests.fakes.process import fake_process
from tests.fakes.vault_states import Engine, VaultState

PATH = "secret/app/db"
LENT = "database/creds/app"
TERM_S = 90


class Machine:
    """What outlives the process: Vault, the wall clock, and the ledger's directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vault = VaultState()
        self.vault.write(PATH, {"password": "first"})
        self.vault.engines["database/"] = Engine(None)
        self.vault.lease_s[LENT] = TERM_S
        self.now = 1_700_000_000.0
        self.allow(POD)

    def allow(self, pod: PublishedPod, *, ttl_s: int = 3600) -> None:
        role = account(pod, None).role
        self.vault.role(role, f"the-jwt-{pod.uid}", [PATH, LENT], ttl_s=ttl_s)

    @property
    def alive(self) -> set[str]:
        """Tokens, at Vault."""
        return set(self.vault.tokens)

    @contextlib.asynccontextmanager
    async def life(self, fate: Fate | None = None) -> AsyncIterator[BrokerSetup]:
        fate = fate or Fate()
        clock, meter = ManualClock(self.now), MemoryMeter()
        file = LedgerFile(self.folder, fake_process(clock=clock, meter=meter))
        setup = BrokerSetup(
            vault=MortalVault(self.vault, fate),
            clock=clock,
            meter=meter,
            ledger=MortalLedger(file, fate),
            left=file.left,
            left_leases=file.left_leases,
            unfinished=file.unfinished,
        )
        try:
            async with setup.running():
                yield setup
        finally:
            file.close()
            self.now = clock.now()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def recovered(setup: BrokerSetup, result: str) -> float:
    return setup.meter.value(names.RECOVERED_TOKENS, result=result)


async def test_a_pod_that_is_published_again_has_its_token_back(machine: Machine) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
        (token,) = machine.alive
        await first.clock.advance(1000)
    async with machine.life() as second:
        session = second.session()
        assert second.meter.value(names.VAULT_TOKENS) == 1
        # Even before kubelet brings the pod's own token again.
        session.jwt = None
        await second.broker.read(session, PATH)
        assert machine.vault.calls["login"] == 1
        await second.clock.advance(ORPHANS_S + 1)
        assert machine.alive == {token}
        # It is renewed when it would have been, too.
        await second.clock.advance(2380 - 1000 - ORPHANS_S - 1)
        assert machine.vault.calls["renew"] == 0
        await second.clock.advance(40)
        assert machine.vault.calls["renew"] == 1
        second.broker.close(session)
        await second.clock.advance(1)
        assert machine.alive == set()
    assert recovered(second, "adopted") == 1
    async with machine.life() as third:
        assert (third.left, third.unfinished) == ((), ())


async def test_a_token_is_found_again_in_its_namespace_and_revoked_there(machine: Machine) -> None:
    there = machine.vault.within("team-a")
    there.role(account(POD, None).role, f"the-jwt-{POD.uid}", [PATH])
    there.write(PATH, {"word": "x"})
    async with machine.life() as first:
        await first.broker.read(first.session(vault_namespace="team-a"), PATH)
        (token,) = there.tokens
    async with machine.life() as second:
        # Another namespace is another account: its token is not taken for this one's.
        second.session()
        second.session(vault_namespace="team-a")
        assert recovered(second, "adopted") == 1
    async with machine.life() as third:
        await third.clock.advance(ORPHANS_S + 1)
        assert there.revoked == [token]
        assert machine.vault.revoked == []


async def test_a_renewal_is_remembered(machine: Machine) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
        await first.clock.advance(2420)
        assert machine.vault.calls["renew"] == 1
    machine.now += 2000
    async with machine.life() as second:
        await second.broker.read(second.session(), PATH)
        assert machine.vault.calls["login"] == 1


async def test_the_token_of_a_pod_that_has_ended_meanwhile_is_revoked_in_time(
    machine: Machine,
) -> None:
    machine.allow(OTHER_POD)
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
        await first.broker.read(first.session(OTHER_POD), PATH)
    async with machine.life() as second:
        session = second.session()
        await second.clock.advance(ORPHANS_S - 1)
        assert len(machine.alive) == 2
        await second.clock.advance(2)
        assert list(machine.vault.tokens.values()) == [session.account.role]
    assert recovered(second, "orphaned") == 1
    (revocation,) = second.grants.all
    assert (revocation.operation, revocation.result) == ("revoke", "granted")
    assert (revocation.pod, revocation.pod_uid) == (OTHER_POD.name, OTHER_POD.uid)


async def test_the_token_of_a_pod_of_which_nothing_is_left_is_revoked_at_once(
    machine: Machine,
) -> None:
    machine.allow(OTHER_POD)
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
        await first.broker.read(first.session(OTHER_POD), PATH)
    async with machine.life() as second:
        await second.clock.advance(0)
        assert len(machine.alive) == 2
        # Kubelet takes a while, too.
        second.ended_pods.removed.add(home_of(OTHER_POD))
        await second.clock.advance(POLL_S)
        assert list(machine.vault.tokens.values()) == [account(POD, None).role]
        # The other one may still be published.
        assert second.session().held is not None
    assert recovered(second, "ended") == 1


async def test_a_pod_that_is_published_meanwhile_has_not_ended(machine: Machine) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
    async with machine.life() as second:
        session = second.session()
        second.ended_pods.removed.add(home_of(POD))
        await second.clock.advance(POLL_S)
        assert session.held is not None
        assert len(machine.alive) == 1


async def test_the_same_name_with_another_uid_is_another_pod(machine: Machine) -> None:
    newer = PublishedPod(POD.namespace, POD.name, "u-9", POD.service_account)
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
    async with machine.life() as second:
        assert second.session(newer).held is None
        assert second.session(role="another").held is None
        await second.clock.advance(ORPHANS_S + 1)
        assert machine.alive == set()


async def test_a_revocation_that_an_outage_delays_outlives_the_process(machine: Machine) -> None:
    async with machine.life() as first:
        session = first.session()
        await first.broker.read(session, PATH)
        first.vault.outage = "sealed"
        first.broker.close(session)
        await first.clock.advance(10)
        assert first.grants.of("revoke")[-1] == "failed"
    async with machine.life() as second:
        second.vault.outage = "down"
        await second.clock.advance(ORPHANS_S + 5)
        assert len(machine.alive) == 1
        second.vault.outage = None
        await second.clock.advance(15)
        assert machine.alive == set()


async def test_a_token_that_vault_has_forgotten_meanwhile_is_replaced(machine: Machine) -> None:
    async with machine.life() as first:
        await first.broker.read(first.session(), PATH)
    machine.vault.tokens.clear()
    async with machine.life() as second:
        reading = await second.broker.read(second.session(), PATH)
        assert reading.document.version == 1
        assert machine.vault.calls["login"] == 2
    async with machine.life() as third:
        assert len(third.left) == 1


async def test_a_login_without_an_answer_is_said_once(machine: Machine) -> None:
    async with machine.life() as first:
        session = first.session()
        for outage in ("timeout", "sealed"):
            first.vault.outage = "timeout" if outage == "timeout" else "sealed"
            with contextlib.suppress(Exception):
                await first.broker.read(session, PATH)
    async with machine.life() as second:
        # Of a sealed one it is known that nothing has come.
        assert recovered(second, "unknown") == 1
    async with machine.life() as third:
        assert recovered(third, "unknown") == 0


async def test_a_refused_login_leaves_nothing_to_say(machine: Machine) -> None:
    async with machine.life() as first:
        with contextlib.suppress(Exception):
            await first.broker.read(first.session(role="nobody"), PATH)
    async with machine.life() as second:
        assert (second.left, second.unfinished) == ((), ())


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
