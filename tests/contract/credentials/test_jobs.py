"""Logins outlive those who wait for them, and the end of the process: on real sockets, threads and files."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_agent.app.credentials_vault import AskedVault, ask_vault
from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.broker import Reading
from nemutator_agent.credentials.vault.failures import VaultUnavailableError
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_common.data_directory import DataDirectory
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock

from tests.contract.credentials.places import eventually
from tests.fakes.peers import POD, RecordedGrants
from tests.fakes.process import fake_process
from tests.fakes.vaults import FakeVault

PATIENCE_S = 60.0
PATH = "secret/app/db"


@pytest.fixture
def fake() -> Iterator[FakeVault]:
    with FakeVault() as fake:
        fake.write(PATH, {"password": "hunter2"})
        yield fake


def a_process(folder: Path) -> Process:
    return fake_process(
        clock=SystemClock(), directory=DataDirectory(folder), supervisor=Supervisor(stop_s=10.0)
    )


@asynccontextmanager
async def asking(
    fake: FakeVault, process: Process, stop: asyncio.Event, *, call_s: float = 30.0
) -> AsyncIterator[AskedVault]:
    settings = CredentialsSettings(
        vault_address=fake.url, vault_call_s=call_s, data_dir=process.directory.root
    )
    audit = Audit(RecordedGrants(), node="n1", key=Secret("k"), clock=process.clock)
    asked = ask_vault(process, settings, audit)
    try:
        async with asyncio.timeout(4 * PATIENCE_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(process.supervisor.run(stop))
            await turns()
            yield asked
            stop.set()
    finally:
        asked.close()


def session_of(fake: FakeVault, asked: AskedVault, number: int) -> VaultSession:
    one = account(replace(POD, uid=f"u-{number}", name=f"api-{number}"), f"role-{number}")
    fake.role(one.role, f"jwt-{number}", [PATH])
    session = asked.broker.open(one)
    asked.broker.refresh(session, Secret(f"jwt-{number}"))
    return session


async def turns() -> None:
    """Let the tasks of the process start, or stop."""
    for _ in range(30):
        await asyncio.sleep(0)


async def in_vain(asked: AskedVault, session: VaultSession) -> None:
    with pytest.raises(VaultUnavailableError, match="no answer within"):
        await asked.broker.read(session, PATH)


async def read_at_last(asked: AskedVault, session: VaultSession) -> Reading:
    """Where calls have little time, a busy machine may need several."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(VaultUnavailableError):
                return await asked.broker.read(session, PATH)


async def test_a_slow_login_is_one_login_and_serves_the_next_reader(
    fake: FakeVault, tmp_path: Path
) -> None:
    async with asking(fake, a_process(tmp_path), asyncio.Event(), call_s=0.1) as asked:
        session = session_of(fake, asked, 1)
        fake.hold_back("login")
        for _ in range(3):
            await in_vain(asked, session)
        fake.go_on("login")
        await eventually(lambda: session.held is not None, "the token")
        assert (await read_at_last(asked, session)).document.keys() == ("password",)
        assert (fake.calls["login"], len(fake.tokens)) == (1, 1)


async def test_the_end_of_the_process_loses_no_login_that_is_under_way(
    fake: FakeVault, tmp_path: Path
) -> None:
    stop = asyncio.Event()
    fake.hold_back("login")
    async with (
        asyncio.TaskGroup() as readers,
        asking(fake, a_process(tmp_path), stop) as asked,
    ):
        waiting = [
            readers.create_task(asked.broker.read(session_of(fake, asked, number), PATH))
            for number in range(8)
        ]
        await eventually(lambda: fake.calls["login"] == 8, "eight logins")
        for reader in waiting:
            reader.cancel()
        stop.set()
        await turns()
        fake.go_on("login")
    assert (fake.calls["login"], len(fake.tokens)) == (8, 8)
    ledger = LedgerFile(tmp_path, a_process(tmp_path))
    ledger.close()
    assert {token.token.reveal() for token in ledger.left} == set(fake.tokens)
    assert ledger.unfinished == ()


async def all_read(fake: FakeVault, asked: AskedVault, pods: int) -> None:
    async with asyncio.TaskGroup() as tasks:
        for number in range(pods):
            session = session_of(fake, asked, number)
            # As the containers of a pod do, at the same time.
            for _ in range(3):
                tasks.create_task(asked.broker.read(session, PATH))


async def test_a_node_that_starts_logs_each_pod_in_once_and_after_a_restart_none(
    fake: FakeVault, tmp_path: Path
) -> None:
    async with asking(fake, a_process(tmp_path), asyncio.Event(), call_s=60.0) as asked:
        await all_read(fake, asked, 250)
    assert (fake.calls["login"], fake.calls["read"]) == (250, 250)
    async with asking(fake, a_process(tmp_path), asyncio.Event(), call_s=60.0) as asked:
        await all_read(fake, asked, 250)
    assert (fake.calls["login"], fake.calls["read"], fake.revoked) == (250, 500, [])
