import asyncio

import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.pods.handler import (
    LARGEST_ENVIRONMENT,
    STRANGERS_BURST,
    PodHandler,
)
from nemutator_common import names
from nemutator_common.declarations import DeclarationError, Declarations, Reference

from tests.fakes.broking import FRESH_S, Standing
from tests.fakes.callers import OTHER_POD, POD, Caller, SimpleWitness

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
def standing() -> Standing:
    made = Standing()
    made.vault.state.write(DB, {"password": "hunter2", "user": "api"})
    made.allow(DB)
    return made


def desk(
    standing: Standing, declared: Declarations | DeclarationError = DECLARED, *, rate: float = 100
) -> PodHandler:
    return PodHandler(
        standing.session(),
        declared,
        broker=standing.broker,
        witness=SimpleWitness(),
        audit=standing.audit,
        node="n1",
        auth_mount="kubernetes",
        rate=rate,
        clock=standing.clock,
        meter=standing.meter,
    )


async def test_the_pod_learns_who_it_is_and_what_it_declares(standing: Standing) -> None:
    visitor = desk(standing).admit(CALLER)
    assert visitor.whoami() == {
        "namespace": "shop",
        "pod": "api-1",
        "uid": "u-1",
        "service_account": "api",
        "node": "n1",
    }
    assert visitor.declared() == {
        "secrets": ["db", "others", "word"],
        "environment": ["TOKEN", "USER"],
    }


async def test_a_secret_is_given_and_recorded(standing: Standing) -> None:
    async with standing.running():
        visitor = desk(standing).admit(CALLER)
        assert (await visitor.secret("word")).value.reveal() == "hunter2"
        assert (await visitor.secret("db")).is_whole
    first, second = (grant for grant in standing.grants.all if grant.operation == "read")
    assert (first.secret, first.result, first.cached, first.version) == (
        "word",
        "granted",
        False,
        1,
    )
    assert second.cached
    assert first.path_digest == second.path_digest


async def test_the_environment_comes_whole_or_not_at_all(standing: Standing) -> None:
    async with standing.running():
        values = await desk(standing).admit(CALLER).environment()
        assert {name: value.reveal() for name, value in values.items()} == {
            "TOKEN": "hunter2",
            "USER": "api",
        }
        assert standing.calls["read"] == 1
        broken = Declarations(
            environment={"A": Reference(DB, "user"), "B": Reference("secret/other")}
        )
        with pytest.raises(HttpRefusal, match="denies secret/other") as raised:
            await desk(standing, broken).admit(CALLER).environment()
        assert raised.value.status == 403
    assert "denied" in standing.grants.of("env")


async def test_a_key_that_is_not_there_is_recorded_as_refused(standing: Standing) -> None:
    nothing = Reference(DB, "nothing")
    declared = Declarations(secrets={"a": nothing}, environment={"A": nothing})
    async with standing.running():
        with pytest.raises(HttpRefusal, match="has no key"):
            await desk(standing, declared).admit(CALLER).secret("a")
        with pytest.raises(HttpRefusal, match="has no key"):
            await desk(standing, declared).admit(CALLER).environment()
    assert standing.grants.of("read") == standing.grants.of("env") == ["denied"]
    assert standing.grants.all[-1].reason == "key"


async def test_each_variable_counts_as_a_request(standing: Standing) -> None:
    many = {f"V{number}": Reference(DB, "user") for number in range(64)}
    async with standing.running():
        asked = desk(standing, Declarations(environment=many), rate=10)
        # More than are allowed at once, and still it can be had.
        assert len(await asked.admit(CALLER).environment()) == 64
        await standing.clock.advance(4)
        with pytest.raises(HttpRefusal) as raised:
            asked.admit(CALLER)
        assert raised.value.step == "rate"
        await standing.clock.advance(1)
        asked.admit(CALLER)


async def test_an_environment_that_is_too_large_is_refused_by_the_variable(
    standing: Standing,
) -> None:
    standing.vault.state.write(DB, {"half": "x" * (LARGEST_ENVIRONMENT // 2)})
    half = Reference(DB, "half")
    async with standing.running():
        both = desk(standing, Declarations(environment={"A": half, "B": half}))
        assert len(await both.admit(CALLER).environment()) == 2
        three = desk(standing, Declarations(environment={"A": half, "B": half, "C": half}))
        with pytest.raises(HttpRefusal, match="with variable 'C'") as raised:
            await three.admit(CALLER).environment()
        assert (raised.value.status, raised.value.step) == (400, "size")


@pytest.mark.parametrize("stranger", [Caller(OTHER_POD.uid), Caller("")])
async def test_another_pod_gets_nothing_on_this_socket(
    standing: Standing, stranger: Caller
) -> None:
    with pytest.raises(HttpRefusal) as raised:
        desk(standing).admit(stranger)
    assert (raised.value.status, raised.value.step) == (403, "other pod")
    assert standing.grants.of("connect") == ["denied"]
    assert standing.meter.value(names.CREDENTIAL_REFUSALS, step="other pod") == 1


async def test_who_is_gone_by_now_gets_nothing_more(standing: Standing) -> None:
    made, caller = desk(standing), Caller()
    made.admit(caller)
    caller.refused = "alive"
    with pytest.raises(HttpRefusal) as raised:
        made.admit(caller)
    assert raised.value.step == "alive"


async def test_strangers_use_up_nothing_of_the_pods_and_few_records(standing: Standing) -> None:
    made = desk(standing, rate=1)
    for _ in range(1000):
        with pytest.raises(HttpRefusal):
            made.admit(Caller("u-9"))
    assert len(standing.grants.all) == STRANGERS_BURST
    assert standing.meter.value(names.CREDENTIAL_REFUSALS, step="other pod") == 1000
    made.admit(CALLER)


async def test_the_pod_itself_is_held_to_a_rate(standing: Standing) -> None:
    made = desk(standing, rate=5)
    for _ in range(10):
        made.admit(CALLER)
    with pytest.raises(HttpRefusal) as raised:
        made.admit(CALLER)
    assert raised.value.status == 429
    await standing.clock.advance(1)
    made.admit(CALLER)


async def test_what_is_not_declared_is_not_there_whatever_vault_would_say(
    standing: Standing,
) -> None:
    async with standing.running():
        for name in (DB, "DB", "", "db/../db", "__class__"):
            with pytest.raises(HttpRefusal) as raised:
                await desk(standing).admit(CALLER).secret(name)
            assert raised.value.status == 404
        assert standing.calls == {}
    assert standing.grants.of("read") == ["denied"] * 5


async def test_a_faulty_declaration_is_told_at_every_question_but_who_am_i(
    standing: Standing,
) -> None:
    visitor = desk(standing, DeclarationError(("secret.db: expected …",))).admit(CALLER)
    assert visitor.whoami()["pod"] == POD.name
    for ask in (lambda: visitor.secret("db"), visitor.environment):
        with pytest.raises(HttpRefusal, match=r"secret\.db: expected"):
            await ask()
    with pytest.raises(HttpRefusal) as raised:
        visitor.declared()
    assert raised.value.status == 400


async def test_an_answer_from_before_an_outage_says_so(standing: Standing) -> None:
    async with standing.running():
        visitor = desk(standing).admit(CALLER)
        await visitor.secret("word")
        standing.vault.outage = "sealed"
        await standing.clock.advance(FRESH_S)
        assert (await visitor.secret("word")).stale
        with pytest.raises(HttpRefusal) as raised:
            await visitor.secret("others")
        assert (raised.value.status, raised.value.retry_after_s) == (503, 5)
    assert standing.grants.of("read") == ["granted", "granted", "failed"]
    assert standing.grants.all[-2].reason == "stale"


async def test_a_pod_that_reads_while_it_ends_is_refused_and_not_served_from_memory(
    standing: Standing,
) -> None:
    async with standing.running():
        made = desk(standing)
        await made.admit(CALLER).secret("word")
        session = standing.session()
        standing.broker.close(session)
        with pytest.raises(HttpRefusal) as raised:
            async with asyncio.timeout(5):
                await made.admit(CALLER).secret("word")
        assert raised.value.step == "token"
