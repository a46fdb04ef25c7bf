import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.leases.renewing import POLL_S
from nemutator_agent.credentials.pods.budgets import PodBudgets
from nemutator_agent.credentials.pods.followed_secrets import FollowedSecrets
from nemutator_agent.credentials.pods.handler import LARGEST_ENVIRONMENT, PodHandler
from nemutator_agent.credentials.rate_limits import UNATTESTED_BURST
from nemutator_agent.credentials.vault.failures import VaultDeniedError
from nemutator_common import names
from nemutator_common.declarations import (
    DeclarationError,
    Declarations,
    DeclaredFile,
    FileFormat,
    Reference,
)
from nemutator_common.on_rotate import ContainerSignal, OnRotate, PodRestart

from tests.agent.credentials.vault.mortal_machine import LENT, TERM_S, Machine
from tests.fakes.brokers import FRESH_S, BrokerSetup
from tests.fakes.container_signals import RecordedSignals
from tests.fakes.peers import OTHER_POD, POD, Caller, TrustingAttestor
from tests.fakes.served_values import MemoryServed

DB = "secret/app/db"
DECLARED = Declarations(
    secrets={
        "db": Reference(DB),
        "word": Reference(DB, "password"),
        "others": Reference("secret/other"),
    },
    environment={"TOKEN": Reference(DB, "password"), "USER": Reference(DB, "user")},
)
CALLER = Caller()


@pytest.fixture
def setup() -> BrokerSetup:
    made = BrokerSetup()
    made.vault.state.write(DB, {"password": "hunter2", "user": "api"})
    made.allow(DB)
    return made


def handler(
    setup: BrokerSetup,
    declared: Declarations | DeclarationError = DECLARED,
    *,
    rate: float = 100,
    follow: Callable[[str, FollowedSecrets], None] = lambda _path, _followed: None,
) -> PodHandler:
    return PodHandler(
        setup.session(),
        declared,
        broker=setup.broker,
        attestor=TrustingAttestor(),
        audit=setup.audit,
        node="n1",
        follow=follow,
        containers=RecordedSignals(),
        served=MemoryServed(),
        auth_mount="kubernetes",
        namespace="",
        budget=PodBudgets(rate).of(POD.uid),
        process=setup.process,
    )


async def test_the_pod_learns_who_it_is_and_what_it_declares(setup: BrokerSetup) -> None:
    caller = handler(setup).admit(CALLER)
    assert caller.whoami() == {
        "namespace": "shop",
        "pod": "api-1",
        "uid": "u-1",
        "service_account": "api",
        "node": "n1",
    }
    assert caller.declared() == {
        "secrets": ["db", "others", "word"],
        "environment": ["TOKEN", "USER"],
    }


async def test_a_secret_is_given_and_recorded(setup: BrokerSetup) -> None:
    async with setup.running():
        caller = handler(setup).admit(CALLER)
        assert (await caller.secret("word")).value.reveal() == "hunter2"
        assert (await caller.secret("db")).is_whole
    first, second = (grant for grant in setup.grants.all if grant.operation == "read")
    assert (first.secret, first.result, first.cached, first.version) == (
        "word",
        "granted",
        False,
        1,
    )
    assert second.cached
    assert first.path_digest == second.path_digest


async def test_what_was_shown_is_kept_no_longer_than_its_document(setup: BrokerSetup) -> None:
    async with setup.running():
        served = handler(setup)
        await served.admit(CALLER).secret("word")
        before = served.secret_at_hand(CALLER, "word", most=LARGEST_ENVIRONMENT)
        assert before is not None
        assert b"hunter2" in before.show(raw=False).body
        kept = before.shown
        again = served.secret_at_hand(CALLER, "word", most=LARGEST_ENVIRONMENT)
        assert again is not None
        assert again.shown is kept
        assert set(kept) == {False}
        setup.vault.state.write(DB, {"password": "hunter3", "user": "api"})
        await setup.clock.advance(FRESH_S)
        await served.admit(CALLER).secret("word")
        del before, again
        assert not kept
        after = served.secret_at_hand(CALLER, "word", most=LARGEST_ENVIRONMENT)
        assert after is not None
        assert b"hunter3" in after.show(raw=False).body


async def test_a_file_of_several_secrets_is_given_in_its_format(setup: BrokerSetup) -> None:
    entries = {"USER": Reference(DB, "user"), "PASSWORD": Reference(DB, "password")}
    declared = Declarations(files={"app.env": DeclaredFile(FileFormat.DOTENV, entries)})
    async with setup.running():
        caller = handler(setup, declared).admit(CALLER)
        assert caller.declared()["secrets"] == ["app.env"]
        assert caller.may_watch("app.env")
        answer = await caller.secret("app.env")
        assert answer.value.reveal() == "USER=api\nPASSWORD=hunter2\n"
        assert setup.grants.of("read") == ["granted", "granted"]
        assert setup.calls["read"] == 1
        setup.vault.state.write(DB, {"password": "a\0b", "user": "api"})
        await setup.clock.advance(FRESH_S)
        with pytest.raises(HttpRefusal) as raised:
            await caller.secret("app.env")
        assert (raised.value.status, raised.value.step) == (400, "format")


async def test_the_environment_comes_whole_or_not_at_all(setup: BrokerSetup) -> None:
    async with setup.running():
        values = await handler(setup).admit(CALLER).environment()
        assert {name: value.reveal() for name, value in values.items()} == {
            "TOKEN": "hunter2",
            "USER": "api",
        }
        assert setup.calls["read"] == 1
        broken = Declarations(
            environment={"A": Reference(DB, "user"), "B": Reference("secret/other")}
        )
        with pytest.raises(HttpRefusal, match="denies secret/other") as raised:
            await handler(setup, broken).admit(CALLER).environment()
        assert raised.value.status == 403
    assert "denied" in setup.grants.of("env")


@pytest.mark.parametrize(
    ("on_rotate", "paths"),
    [(PodRestart(), [DB]), (ContainerSignal("HUP", "web"), []), (None, [])],
)
async def test_variables_are_followed_where_a_new_pod_can_have_new_ones(
    setup: BrokerSetup, on_rotate: OnRotate | None, paths: list[str]
) -> None:
    declared = Declarations(environment={"TOKEN": Reference(DB, "password")}, on_rotate=on_rotate)
    given: list[str] = []
    unasked: list[str] = []
    async with setup.running():
        first = handler(setup, declared, follow=lambda path, _: given.append(path))
        await first.admit(CALLER).environment()
        next_life = handler(setup, declared, follow=lambda path, _: unasked.append(path))
        await next_life.follow_before()
    assert given == unasked == paths
    assert setup.grants.of("env") == ["granted"]


async def test_a_variable_that_is_lent_is_followed_over_a_restart(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    declared = Declarations(
        environment={"PASSWORD": Reference(LENT, "password")}, on_rotate=PodRestart()
    )
    async with machine.life() as first:
        await handler(first, declared).admit(CALLER).environment()
        await first.clock.advance(POLL_S)
    async with machine.life() as second:
        pod = handler(second, declared)
        await pod.follow_before()
        # What the pod was started with, and nothing that nobody uses.
        assert len(machine.vault.leases) == 1
        machine.vault.renews_leases = False
        await second.clock.advance(TERM_S)
        await pod.admit(CALLER).environment()
        assert second.grants.of("rotate") == ["granted"]


async def test_a_changed_variable_is_a_rotation_of_a_pod_that_is_evicted_for_it(
    setup: BrokerSetup,
) -> None:
    declared = Declarations(
        environment={"TOKEN": Reference(DB, "password")}, on_rotate=PodRestart()
    )
    async with setup.running():
        pod = handler(setup, declared)
        await pod.follow_before()
        setup.vault.state.write(DB, {"password": "hunter3"})
        await setup.clock.advance(FRESH_S)
        await pod.admit(CALLER).environment()
    assert setup.grants.of("rotate") == ["granted"]


async def test_variables_that_vault_denies_are_not_followed_yet(setup: BrokerSetup) -> None:
    denied = Declarations(environment={"B": Reference("secret/other")}, on_rotate=PodRestart())
    async with setup.running():
        with pytest.raises(VaultDeniedError):
            await handler(setup, denied).follow_before()


async def test_a_key_that_is_not_there_is_recorded_as_refused(setup: BrokerSetup) -> None:
    nothing = Reference(DB, "nothing")
    declared = Declarations(secrets={"a": nothing}, environment={"A": nothing})
    async with setup.running():
        with pytest.raises(HttpRefusal, match="has no key"):
            await handler(setup, declared).admit(CALLER).secret("a")
        with pytest.raises(HttpRefusal, match="has no key"):
            await handler(setup, declared).admit(CALLER).environment()
    assert setup.grants.of("read") == setup.grants.of("env") == ["denied"]
    assert setup.grants.all[-1].reason == "key"


async def test_each_variable_counts_as_a_request(setup: BrokerSetup) -> None:
    many = {f"V{number}": Reference(DB, "user") for number in range(64)}
    async with setup.running():
        asked = handler(setup, Declarations(environment=many), rate=10)
        # More than are allowed at once, and still it can be had.
        assert len(await asked.admit(CALLER).environment()) == 64
        await setup.clock.advance(4)
        with pytest.raises(HttpRefusal) as raised:
            asked.admit(CALLER)
        assert raised.value.step == "rate"
        await setup.clock.advance(1)
        asked.admit(CALLER)


async def test_each_file_that_is_asked_for_counts_as_a_request(setup: BrokerSetup) -> None:
    many = {f"f{number}": Reference(DB, "user") for number in range(64)}
    async with setup.running():
        asked = handler(setup, Declarations(secrets=many), rate=10)
        assert len(await asked.admit(CALLER).files()) == 64
        with pytest.raises(HttpRefusal) as raised:
            asked.admit(CALLER)
        assert raised.value.step == "rate"
        # What nobody asks for does not.
        await setup.clock.advance(5)
        assert len(await asked.file_values()) == 64
        asked.admit(CALLER)


async def test_an_environment_that_is_too_large_is_refused_by_the_variable(
    setup: BrokerSetup,
) -> None:
    setup.vault.state.write(DB, {"half": "x" * (LARGEST_ENVIRONMENT // 2)})
    half = Reference(DB, "half")
    async with setup.running():
        both = handler(setup, Declarations(environment={"A": half, "B": half}))
        assert len(await both.admit(CALLER).environment()) == 2
        three = handler(setup, Declarations(environment={"A": half, "B": half, "C": half}))
        with pytest.raises(HttpRefusal, match="with variable 'C'") as raised:
            await three.admit(CALLER).environment()
        assert (raised.value.status, raised.value.step) == (400, "size")


async def test_a_file_that_its_escapes_make_too_large_is_refused(setup: BrokerSetup) -> None:
    setup.vault.state.write(DB, {"word": "ä" * (LARGEST_ENVIRONMENT // 4)})
    declared = {
        str(form): DeclaredFile(form, {"WORD": Reference(DB, "word")})
        for form in (FileFormat.DOTENV, FileFormat.PROPERTIES)
    }
    async with setup.running():
        caller = handler(setup, Declarations(files=declared)).admit(CALLER)
        assert (await caller.secret("dotenv")).value
        with pytest.raises(HttpRefusal, match="'properties'") as raised:
            await caller.secret("properties")
    assert (raised.value.status, raised.value.step) == (400, "size")


@pytest.mark.parametrize("stranger", [Caller(OTHER_POD.uid), Caller("")])
async def test_another_pod_gets_nothing_on_this_socket(
    setup: BrokerSetup, stranger: Caller
) -> None:
    with pytest.raises(HttpRefusal) as raised:
        handler(setup).admit(stranger)
    assert (raised.value.status, raised.value.step) == (403, "other pod")
    assert setup.grants.of("connect") == ["denied"]
    assert setup.meter.value(names.CREDENTIAL_REFUSALS, step="other pod") == 1


async def test_who_is_gone_by_now_gets_nothing_more(setup: BrokerSetup) -> None:
    made, caller = handler(setup), Caller()
    made.admit(caller)
    caller.refused = "alive"
    with pytest.raises(HttpRefusal) as raised:
        made.admit(caller)
    assert raised.value.step == "alive"


async def test_strangers_use_up_nothing_of_the_pods_and_few_records(setup: BrokerSetup) -> None:
    made = handler(setup, rate=1)
    for _ in range(1000):
        with pytest.raises(HttpRefusal):
            made.admit(Caller("u-9"))
    assert len(setup.grants.all) == UNATTESTED_BURST
    assert setup.meter.value(names.CREDENTIAL_REFUSALS, step="other pod") == 1000
    made.admit(CALLER)


async def test_the_pod_itself_is_held_to_a_rate(setup: BrokerSetup) -> None:
    made = handler(setup, rate=5)
    for _ in range(10):
        made.admit(CALLER)
    with pytest.raises(HttpRefusal) as raised:
        made.admit(CALLER)
    assert raised.value.status == 429
    await setup.clock.advance(1)
    made.admit(CALLER)


async def test_what_is_not_declared_is_not_there_whatever_vault_would_say(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        for name in (DB, "DB", "", "db/../db", "__class__"):
            with pytest.raises(HttpRefusal) as raised:
                await handler(setup).admit(CALLER).secret(name)
            assert raised.value.status == 404
        assert setup.calls == {}
    assert setup.grants.of("read") == ["denied"] * 5


async def test_a_faulty_declaration_is_told_at_every_question_but_who_am_i(
    setup: BrokerSetup,
) -> None:
    caller = handler(setup, DeclarationError(("secret.db: expected …",))).admit(CALLER)
    assert caller.whoami()["pod"] == POD.name
    for ask in (lambda: caller.secret("db"), caller.environment):
        with pytest.raises(HttpRefusal, match=r"secret\.db: expected"):
            await ask()
    with pytest.raises(HttpRefusal) as raised:
        caller.declared()
    assert raised.value.status == 400


async def test_an_answer_from_before_an_outage_says_so(setup: BrokerSetup) -> None:
    async with setup.running():
        caller = handler(setup).admit(CALLER)
        await caller.secret("word")
        setup.vault.outage = "sealed"
        await setup.clock.advance(FRESH_S)
        assert (await caller.secret("word")).stale
        with pytest.raises(HttpRefusal) as raised:
            await caller.secret("others")
        assert (raised.value.status, raised.value.retry_after_s) == (503, 1)
    assert setup.grants.of("read") == ["granted", "granted", "failed"]
    assert setup.grants.all[-2].reason == "stale"


async def test_a_pod_that_reads_while_it_ends_is_refused_and_not_served_from_memory(
    setup: BrokerSetup,
) -> None:
    async with setup.running():
        made = handler(setup)
        await made.admit(CALLER).secret("word")
        session = setup.session()
        setup.broker.close(session)
        with pytest.raises(HttpRefusal) as raised:
            async with asyncio.timeout(60):
                await made.admit(CALLER).secret("word")
        assert raised.value.step == "token"
