"""A real Vault lends real users of PostgreSQL to a pod: held, renewed, replaced, and gone with the pod."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_agent.credentials.leases.renewing import POLL_S
from nemutator_agent.credentials.ports import NamespacedVault as AskedVault
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.publications import PUBLICATIONS_PATH
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.contract.credentials.places import adapter, eventually, real_place
from tests.fakes.brokers import FRESH_S, BrokerSetup
from tests.fakes.clocks import ManualClock
from tests.fakes.pod_sockets import Node, call
from tests.fakes.process import fake_process
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.lent_databases import database_engine
from tests.testbed.parts.postgres import Postgres, SqlError
from tests.testbed.parts.vault import Vault

pytestmark = pytest.mark.e2e

MOUNT = "lent-database"
TERM_S = 600
DUE_S = 0.72 * TERM_S
"""By the clock of the node; Vault's own goes on as it does."""


@dataclass
class Pod:
    node: Node
    socket: Path
    declared: dict[str, str]
    vault: Vault
    postgres: Postgres

    async def credentials(self) -> tuple[str, Secret]:
        (_, user), (_, word) = [
            await call(self.socket, f"/v1/secret/{name}?raw=1") for name in ("user", "word")
        ]
        return user, Secret(word)

    def may_log_in(self, user: str, password: Secret) -> bool:
        try:
            return self.postgres.sql("SELECT 1", user=user, password=password) == "1"
        except SqlError:
            return False

    async def until_it_is(self, what: str) -> None:
        """Let the time go by after which a lease is due, and wait for what Vault makes of it."""
        await self.node.setup.clock.advance(DUE_S)
        records = self.node.setup.grants.all
        await eventually(lambda: what in {record.reason for record in records}, f"it is {what}")

    def leases(self, engine: str) -> list[str]:
        answer = self.vault.call("LIST", f"sys/leases/lookup/{engine}/creds/app")
        return [f"{engine}/creds/app/{key}" for key in answer["data"]["keys"]]


@pytest.fixture(params=["vault", "bao"])
def lender(request: pytest.FixtureRequest) -> Vault:
    found: Vault = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def engine(lender: Vault, postgres: Postgres) -> Iterator[str]:
    with database_engine(lender, postgres, MOUNT, term=f"{TERM_S}s", longest="24h"):
        yield MOUNT


@pytest.fixture
async def pod(
    lender: Vault, cluster: Cluster, postgres: Postgres, engine: str, tmp_path: Path
) -> AsyncIterator[Pod]:
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(real_place(lender, cluster))
        real = stack.enter_context(adapter(lender.url))
        node = Node(tmp_path, setup=life(real, tmp_path))
        reads = [f"{engine}/creds/app", f"{engine}/static-creds/stays"]
        role, node.token = place.account(reads=reads)
        declared = {
            "vault-role": role,
            "secret.user": f"{engine}/creds/app#username",
            "secret.word": f"{engine}/creds/app#password",
            "secret.static": f"{engine}/static-creds/stays#password",
        }
        async with node.running():
            socket = await node.publish("v1", declared=declared)
            yield Pod(node, socket, declared, lender, postgres)


def life(vault: AskedVault, folder: Path) -> BrokerSetup:
    """One run of the process, after those that have left something in the ledger of *folder*."""
    clock = ManualClock()
    ledger = LedgerFile(folder, fake_process(clock=clock))
    return BrokerSetup(
        clock=clock,
        other_vault=vault,
        wait_s=TERM_S,
        ledger=ledger,
        left=ledger.left,
        left_leases=ledger.left_leases,
    )


async def test_a_user_of_a_database_lives_with_its_pod(pod: Pod, engine: str) -> None:
    user, password = await pod.credentials()
    assert pod.may_log_in(user, password)
    (lease,) = pod.leases(engine)
    await pod.until_it_is("renewed")
    looked_up = pod.vault.call("PUT", "sys/leases/lookup", {"lease_id": lease})
    assert looked_up["data"]["last_renewal"] is not None
    assert await pod.credentials() == (user, password)
    # The lease is ended behind our back: another one takes its place before the term is over.
    pod.vault.call("PUT", "sys/leases/revoke", {"lease_id": lease, "sync": True})
    assert not pod.may_log_in(user, password)
    await pod.until_it_is("replaced")
    again = await pod.credentials()
    assert again[0] != user
    assert pod.may_log_in(*again)
    # Its pod ends, and with it the user.
    assert (await call(pod.node.private, f"{PUBLICATIONS_PATH}/v1", method="DELETE"))[0] == 204
    await eventually(lambda: not pod.may_log_in(*again), "the user is gone with the pod")


async def test_the_password_of_a_user_who_stays_follows_its_rotation(pod: Pod, engine: str) -> None:
    pod.postgres.sql("CREATE ROLE stays LOGIN")
    try:
        pod.vault.call(
            "POST",
            f"{engine}/static-roles/stays",
            {"db_name": "postgres", "username": "stays", "rotation_period": "24h"},
        )
        _, first = await call(pod.socket, "/v1/secret/static?raw=1")
        assert pod.may_log_in("stays", Secret(first))
        pod.vault.call("POST", f"{engine}/rotate-role/stays")
        assert not pod.may_log_in("stays", Secret(first))
        for _ in range(6):
            await pod.node.setup.clock.advance(FRESH_S / 4)
        grants = pod.node.setup.grants
        await eventually(lambda: grants.of("rotate") == ["granted"], "the change is seen")
        _, second = await call(pod.socket, "/v1/secret/static?raw=1")
        assert pod.may_log_in("stays", Secret(second))
    finally:
        pod.postgres.sql("DROP ROLE stays")


async def test_after_a_restart_a_pod_has_the_user_that_it_had(
    pod: Pod, engine: str, tmp_path: Path
) -> None:
    credentials = await pod.credentials()
    setup = pod.node.setup
    assert setup.other_vault is not None
    await setup.clock.advance(POLL_S)
    await eventually(
        lambda: setup.meter.value(names.KEPT_LEASES, result="kept") == 1, "Vault keeps it"
    )
    (tmp_path / "again").mkdir()
    again = Node(tmp_path / "again", setup=life(setup.other_vault, tmp_path))
    again.token = pod.node.token
    async with again.running():
        socket = await again.publish("v1", declared=pod.declared)
        after = Pod(again, socket, pod.declared, pod.vault, pod.postgres)
        assert await after.credentials() == credentials
        assert len(pod.leases(engine)) == 1
        await after.until_it_is("renewed")
        assert await after.credentials() == credentials
        assert pod.may_log_in(*credentials)
        path = f"{PUBLICATIONS_PATH}/v1"
        assert (await call(again.private, path, method="DELETE"))[0] == 204
        await eventually(lambda: not pod.may_log_in(*credentials), "the user is gone with the pod")


async def test_after_a_restart_the_user_of_a_pod_is_renewed_and_ends_with_it(
    pod: Pod, engine: str, tmp_path: Path
) -> None:
    user, password = await pod.credentials()
    (lease,) = pod.leases(engine)
    setup = pod.node.setup
    assert setup.other_vault is not None
    (tmp_path / "again").mkdir()
    again = Node(tmp_path / "again", setup=life(setup.other_vault, tmp_path))
    again.token = pod.node.token
    async with again.running():
        # The pod asks for nothing: it has its user, and goes on with it.
        await again.publish("v1", declared=pod.declared)
        await again.setup.clock.advance(DUE_S)
        await eventually(lambda: again.setup.grants.of("lease") == ["granted"], "it is renewed")
        looked_up = pod.vault.call("PUT", "sys/leases/lookup", {"lease_id": lease})
        assert looked_up["data"]["last_renewal"] is not None
        assert pod.may_log_in(user, password)
        path = f"{PUBLICATIONS_PATH}/v1"
        assert (await call(again.private, path, method="DELETE"))[0] == 204
        await eventually(lambda: not pod.may_log_in(user, password), "the user is gone, too")
