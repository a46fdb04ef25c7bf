import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.machine.vault_reading import CHECK_S, VaultReading
from nemutator_agent.credentials.rotation.checking import RotationChecks
from nemutator_agent.credentials.rotation.schedule import CheckSchedule
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_agent.credentials.vault.accounts import machine_account
from nemutator_agent.credentials.vault.failures import LoginFileError
from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken, LoginProof
from nemutator_agent.credentials.vault.session_tokens import POLL_S
from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

from tests.fakes.brokers import BrokerSetup
from tests.fakes.ledgers import MemoryLedger
from tests.fakes.vault_states import Engine

DB = "secret/app/db"
LENT = "database/creds/app"
PASSWORD = Reference(DB, "password")
CHECKS_S = 60.0


class Setup:
    def __init__(self) -> None:
        self.broker = BrokerSetup()
        self.state = self.broker.vault.state
        self.state.write(DB, {"password": "one"})
        self.state.role("machine", "no-jwt", [DB, LENT], ttl_s=600)
        self.state.app_roles["id"] = ("machine", {"word"})
        self.state.engines["database/"] = Engine(None)
        self.state.lease_s[LENT] = 300
        self.proof: LoginProof | LoginFileError = AppRole(
            role_id=Secret("id"), secret_id=Secret("word")
        )
        self.changes = ChangeFeed(self.broker.clock)
        self.checks = RotationChecks(
            self.broker.broker,
            CheckSchedule(per_minute=60, interval_s=CHECKS_S),
            self.broker.process,
        )
        self.session = self.broker.broker.open(machine_account("approle"))
        self.session.proof = self._proof
        self.reading = VaultReading(
            self.session,
            self.broker.broker,
            self.broker.process,
            changes=self.changes,
            audit=self.broker.audit,
            follow=self.checks.follow,
            shown="an AppRole",
        )

    async def _proof(self) -> LoginProof:
        if isinstance(self.proof, LoginFileError):
            raise self.proof.again()
        return self.proof

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Setup"]:
        async with self.broker.running(self.reading.run, self.checks.run):
            # It is the fourth that sleeps.
            await self.broker.clock.until_sleeping(4)
            yield self

    async def read(self, name: str, reference: Reference = PASSWORD) -> str:
        return (await self.reading.read(name, reference)).value.reveal()

    @property
    def not_ready(self) -> str:
        return str(self.broker.process.readiness.problems())


@pytest.fixture
def setup() -> Setup:
    return Setup()


async def test_it_logs_in_before_anybody_reads_and_is_renewed(setup: Setup) -> None:
    async with setup.running():
        await setup.broker.clock.advance(CHECK_S)
        assert setup.state.calls["login"] == 1
        await setup.broker.clock.advance(450.0 + POLL_S)
        assert setup.state.calls["renew"] >= 1
        assert await setup.read("db") == "one"
    assert setup.state.calls["login"] == 1
    assert setup.broker.grants.of("login") == ["granted"]
    assert {grant.caller for grant in setup.broker.grants.all} == {"nemutator-agent"}


async def test_a_file_that_cannot_be_used_is_no_login_and_shown_until_it_is_mended(
    setup: Setup,
) -> None:
    right = setup.proof
    setup.proof = LoginFileError("/etc/id is empty", "write it")
    async with setup.running():
        await setup.broker.clock.advance(CHECK_S)
        with pytest.raises(HttpRefusal) as raised:
            await setup.read("db")
        assert (raised.value.step, raised.value.remedy) == ("token", "write it")
        assert "/etc/id is empty" in setup.not_ready
        setup.proof = right
        await setup.broker.clock.advance(CHECK_S)
        assert await setup.read("db") == "one"
        assert "empty" not in setup.not_ready
    assert setup.broker.grants.of("login") == ["granted"]


async def test_a_change_is_heard_of_under_the_names_that_were_read(setup: Setup) -> None:
    async with setup.running():
        await setup.read("db")
        await setup.read("again")
        await setup.read("gone")
        setup.reading.forget("gone")
        setup.state.write(DB, {"password": "two"})
        await setup.broker.clock.advance(2 * CHECKS_S)
        assert {change.name for change in setup.changes.log.after(0)} == {"db", "again"}
        assert await setup.read("db") == "two"
    assert setup.broker.grants.of("rotate") == ["granted", "granted"]


async def test_what_is_lent_is_renewed_until_the_last_of_its_names_is_gone(setup: Setup) -> None:
    async with setup.running():
        user = await setup.read("user", Reference(LENT, "username"))
        word = await setup.read("word", Reference(LENT, "password"))
        assert user.removeprefix("user") == word.removeprefix("word")
        setup.reading.forget("user")
        await setup.broker.clock.advance(250.0)
        renewed = setup.state.calls["renew a lease"]
        assert renewed >= 1
        setup.reading.forget("word")
        setup.reading.forget("never-read")
        await setup.broker.clock.advance(600.0)
        assert setup.state.calls["renew a lease"] == renewed


async def test_an_operators_token_is_renewed_and_neither_kept_nor_revoked(setup: Setup) -> None:
    setup.state.give("hvs.operator", "machine")
    setup.proof = GivenToken(Secret("hvs.operator"))
    ledger = setup.broker.ledger
    assert isinstance(ledger, MemoryLedger)
    async with setup.running():
        lent = await setup.read("user", Reference(LENT, "username"))
        assert not ledger.entries.tokens
        assert not ledger.entries.intents
        await setup.broker.clock.advance(450.0 + POLL_S)
        assert setup.state.calls["renew"] >= 1
        # Given again, it is the same token: what it was lent goes on.
        assert setup.session.held is not None
        setup.session.held = replace(setup.session.held, ends=setup.broker.clock.monotonic())
        await setup.broker.broker.log_in(setup.session)
        assert setup.state.calls["lookup"] == 2
        assert await setup.read("user", Reference(LENT, "username")) == lent
        setup.broker.broker.close(setup.session)
        await setup.broker.clock.advance(60.0)
    assert setup.state.revoked == []
    assert not ledger.entries.leases
