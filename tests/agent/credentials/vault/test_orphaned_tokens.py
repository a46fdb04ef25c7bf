"""Over the end of the process: what is left of its tokens, wherever it is killed."""

import contextlib

from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.orphaned_tokens import POLL_S
from nemutator_agent.publications import PublishedPod
from nemutator_common import names

from tests.agent.credentials.vault.mortal_machine import PATH, Machine, recovered
from tests.fakes.brokers import ORPHANS_S, home_of
from tests.fakes.peers import OTHER_POD, POD


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
