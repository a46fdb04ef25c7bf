"""Go's own clients of Vault and of OpenBao, unmodified, in a pod: they have an address and no token."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.contract.credentials.places import adapter, real_place
from tests.fakes.brokers import BrokerSetup
from tests.fakes.ledgers import MemoryLedger
from tests.fakes.pod_sockets import PATIENCE_S, Node
from tests.testbed.building import made
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.lent_databases import database_engine
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.vault import Vault

pytestmark = pytest.mark.e2e

EXPECTED = """\
read written 1
listed [go]
decrypted true
unwrapped map[word:written]
renewed true
lent once true
refused token 403
refused login 403
refused revoke 403
refused mounts 403
refused seal 403
"""

BAO_EXPECTED = """\
read written 1
renewed true
refused token 403
refused mounts 403
"""


async def test_gos_client_works_without_a_token(
    vault: Vault, cluster: Cluster, postgres: Postgres, tmp_path: Path
) -> None:
    with (
        real_place(vault, cluster) as place,
        adapter(vault.url) as real,
        database_engine(vault, postgres, "go-database", term="10m", longest="1h") as lender,
    ):
        node = Node(tmp_path, setup=BrokerSetup(other_vault=real, wait_s=PATIENCE_S))
        role, node.token = place.account(reads=[])
        vault.call("POST", f"transit/keys/{place.folder}")
        vault.policy(
            role,
            f"""
            path "secret/data/{place.folder}/*" {{ capabilities = ["create", "update", "read"] }}
            path "secret/metadata/{place.folder}" {{ capabilities = ["list"] }}
            path "secret/metadata/{place.folder}/" {{ capabilities = ["list"] }}
            path "transit/+/{place.folder}" {{ capabilities = ["update"] }}
            path "{lender}" {{ capabilities = ["read"] }}
            path "sys/leases/revoke" {{ capabilities = ["update"] }}
            """,
        )
        async with node.running():
            socket = await node.publish("v1", declared={"vault-role": role})
            program = await asyncio.create_subprocess_exec(
                str(made.vault_client()), place.folder, place.folder, lender,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "VAULT_ADDR": f"unix://{socket}"},
            )  # fmt: skip
            out, err = await program.communicate()
            assert (program.returncode, out.decode()) == (0, EXPECTED), err.decode()
            # The lease that it has ended is not renewed, nor replaced.
            assert isinstance(node.setup.ledger, MemoryLedger)
            assert node.setup.ledger.entries.leases == {}


async def test_the_client_of_openbao_works_without_a_token(
    vault: Vault, cluster: Cluster, postgres: Postgres, tmp_path: Path
) -> None:
    """Its server is not to be had here, so Vault answers it."""
    with (
        real_place(vault, cluster) as place,
        adapter(vault.url) as real,
        database_engine(vault, postgres, "bao-database", term="10m", longest="1h") as lender,
    ):
        node = Node(tmp_path, setup=BrokerSetup(other_vault=real, wait_s=PATIENCE_S))
        role, node.token = place.account(reads=[])
        vault.policy(
            role,
            f"""
            path "secret/data/{place.folder}/*" {{ capabilities = ["create", "update", "read"] }}
            path "{lender}" {{ capabilities = ["read"] }}
            """,
        )
        async with node.running():
            socket = await node.publish("v1", declared={"vault-role": role})
            program = await asyncio.create_subprocess_exec(
                str(made.bao_client()), place.folder, lender,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "BAO_ADDR": f"unix://{socket}"},
            )  # fmt: skip
            out, err = await program.communicate()
            assert (program.returncode, out.decode()) == (0, BAO_EXPECTED), err.decode()
