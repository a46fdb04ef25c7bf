"""Unmodified clients of Vault on the socket of a pod: hvac as our page says, and with `make e2e` the real
`vault` command with a real Vault behind it, and OpenBao's with OpenBao."""

import asyncio
import base64
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.contract.credentials.places import adapter, real_place
from tests.fakes.brokers import BrokerSetup
from tests.fakes.ledgers import MemoryLedger
from tests.fakes.pod_sockets import PATIENCE_S, Node
from tests.testbed.building import made
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.vault import Vault

PAGE = Path(__file__).parents[3] / "docs" / "secrets.md"
NONE: Mapping[str, str] = MappingProxyType({})


async def ran(
    *words: str, environment: Mapping[str, str] = NONE, given: str = ""
) -> tuple[int, str, str]:
    """Exit code, and what was printed to both streams."""
    async with asyncio.timeout(PATIENCE_S):
        program = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **environment},
        )
        out, err = await program.communicate(given.encode())
    assert program.returncode is not None
    return program.returncode, out.decode(), err.decode()


async def test_hvac_reads_as_our_page_says(tmp_path: Path) -> None:
    (recipe,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        if "hvac_socket" in block
    )
    node = Node(tmp_path)
    node.setup.vault.state.write("secret/shop/db", {"password": "hunter2"})
    node.setup.allow("secret/shop/db")
    lists = 'print(vault.secrets.kv.v2.list_secrets(path="shop")["data"]["keys"])\n'
    async with node.running():
        socket = await node.publish("v1")
        program = recipe.replace("vault_client()", f"vault_client({str(socket)!r})") + lists
        code, out, err = await ran(sys.executable, "-c", program)
    assert (code, out) == (0, "{'password': 'hunter2'}\n['db']\n"), err


# --- the real ones ------------------------------------------------------------------------------
@dataclass
class Pod:
    """A process in it runs the command of its server's makers."""

    node: Node
    socket: Path
    folder: str
    vault: Vault

    @property
    def variables(self) -> tuple[str, str]:
        """Either says where the command finds its server."""
        maker = "BAO" if self.vault.is_openbao else "VAULT"
        return f"{maker}_ADDR", f"{maker}_AGENT_ADDR"

    async def vault_command(
        self, *words: str, variable: str = "", given: str = "", **more: str
    ) -> tuple[int, str, str]:
        home = self.socket.parent
        program = made.bao() if self.vault.is_openbao else made.vault()
        address = {variable or self.variables[0]: f"unix://{self.socket}"}
        environment = {**address, "HOME": str(home), **more}
        return await ran(str(program), *words, environment=environment, given=given)

    async def json_of(self, *words: str, **more: str) -> Any:
        code, out, err = await self.vault_command(*words, **more)
        assert code == 0, err
        return json.loads(out)


@pytest.fixture(params=["vault", "bao"])
async def pod(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path
) -> AsyncIterator[Pod]:
    vault: Vault = request.getfixturevalue(request.param)
    with real_place(vault, cluster) as place, adapter(vault.url) as real:
        node = Node(tmp_path, setup=BrokerSetup(other_vault=real))
        folder = place.folder
        role, node.token = place.account(reads=[])
        vault.policy(
            role,
            f"""
            path "secret/data/{folder}/*" {{ capabilities = ["create", "update", "read", "delete"] }}
            path "secret/metadata/{folder}/*" {{ capabilities = ["read", "list"] }}
            path "transit/+/{folder}" {{ capabilities = ["update"] }}
            """,
        )
        vault.call("POST", f"transit/keys/{folder}", {"type": "ed25519"})
        vault.call("POST", f"transit/keys/{folder}-aes")
        async with node.running():
            socket = await node.publish("v1", declared={"vault-role": role})
            yield Pod(node, socket, folder, vault)


@pytest.mark.e2e
async def test_the_command_works_without_a_token(pod: Pod) -> None:
    path = f"{pod.folder}/db"
    code, _, err = await pod.vault_command("kv", "put", f"secret/{path}", "password=hunter2")
    assert code == 0, err
    for variable in pod.variables:
        code, out, err = await pod.vault_command(
            "kv", "get", "-field=password", f"secret/{path}", variable=variable
        )
        assert (code, out) == (0, "hunter2"), err
    document = await pod.json_of("kv", "get", "-format=json", f"secret/{path}")
    assert document["data"]["metadata"]["version"] == 1
    assert await pod.json_of("kv", "list", "-format=json", f"secret/{pod.folder}/") == ["db"]
    read = await pod.json_of("read", "-format=json", f"secret/data/{path}")
    assert read["data"]["data"] == {"password": "hunter2"}
    code, _, err = await pod.vault_command("kv", "delete", f"secret/{path}")
    assert code == 0, err
    # As without us: of a deleted version the command shows when that was.
    code, out, err = await pod.vault_command("kv", "get", f"secret/{path}")
    assert code == 0, err
    assert re.search(r"deletion_time +20", out)
    code, _, err = await pod.vault_command("kv", "get", f"secret/{pod.folder}/none")
    assert code == 2
    assert "No value found" in err
    code, _, err = await pod.vault_command("kv", "get", "secret/others/db")
    assert code == 2
    assert "permission denied" in err


@pytest.mark.e2e
async def test_transit_works_as_the_pod(pod: Pod) -> None:
    plain = base64.b64encode(b"hello").decode()
    pod.vault.policy(
        f"{pod.folder}.default",
        f"""
        path "transit/+/{pod.folder}" {{ capabilities = ["update"] }}
        path "transit/+/{pod.folder}-aes" {{ capabilities = ["update"] }}
        """,
    )
    key = f"{pod.folder}-aes"
    sealed = await pod.json_of(
        "write", "-format=json", f"transit/encrypt/{key}", f"plaintext={plain}"
    )
    opened = await pod.json_of(
        "write",
        "-format=json",
        f"transit/decrypt/{key}",
        f"ciphertext={sealed['data']['ciphertext']}",
    )
    assert opened["data"]["plaintext"] == plain
    signed = await pod.json_of(
        "write", "-format=json", f"transit/sign/{pod.folder}", f"input={plain}"
    )
    assert signed["data"]["signature"].startswith("vault:v1:")
    code, _, err = await pod.vault_command("read", f"transit/keys/{key}")
    assert code == 2
    assert "permission denied" in err


@pytest.mark.e2e
async def test_answers_are_wrapped_and_unwrapped(pod: Pod) -> None:
    pod.vault.call("POST", f"secret/data/{pod.folder}/db", {"data": {"word": "inside"}})
    for is_argument in (True, False):
        wrapped = await pod.json_of(
            "read", "-format=json", "-wrap-ttl=60s", f"secret/data/{pod.folder}/db"
        )
        assert "data" not in wrapped or wrapped["data"] is None
        token = wrapped["wrap_info"]["token"]
        opened = (
            await pod.json_of("unwrap", "-format=json", token)
            if is_argument
            # As the only token that the client has.
            else await pod.json_of("unwrap", "-format=json", VAULT_TOKEN=token)
        )
        assert opened["data"]["data"] == {"word": "inside"}


@pytest.mark.e2e
async def test_the_command_never_sees_the_token_nor_steps_out_of_its_pod(pod: Pod) -> None:
    looked_up = await pod.json_of("token", "lookup", "-format=json")
    assert f"{pod.folder}.default" in looked_up["data"]["policies"]
    renewed = await pod.json_of("token", "renew", "-format=json")
    assert renewed["auth"]["lease_duration"] > 0
    assert isinstance(pod.node.setup.ledger, MemoryLedger)
    (held,) = pod.node.setup.ledger.entries.tokens.values()
    token = held.token.reveal()
    assert token not in json.dumps([looked_up, renewed])
    for words in (
        ("token", "create"),
        ("token", "revoke", "-self"),
        ("write", "auth/kubernetes/login", "role=x", "jwt=y"),
        ("policy", "list"),
        ("operator", "seal"),
        ("lease", "revoke", "-prefix", "database/"),
        ("secrets", "list"),
        ("write", "-f", "identity/oidc/token/app"),
        ("read", "sys/internal/counters/activity"),
    ):
        code, out, err = await pod.vault_command(*words)
        assert code != 0, words
        assert "is not served on the socket of a pod" in err, (words, err)
        assert token not in out + err
    # A token of somebody else is not used, whatever it may do.
    code, _, err = await pod.vault_command(
        "read", "secret/data/others/db", VAULT_TOKEN=pod.vault.root_token.reveal()
    )
    assert code == 2
    assert "permission denied" in err


@pytest.mark.e2e
async def test_health_and_capabilities_are_vaults_own(pod: Pod) -> None:
    health = await pod.json_of("read", "-format=json", "sys/health")
    assert health
    may = await pod.json_of("token", "capabilities", "-format=json", f"secret/data/{pod.folder}/db")
    assert sorted(may) == ["create", "delete", "read", "update"]
