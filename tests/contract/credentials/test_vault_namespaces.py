"""Pods in several namespaces of one Vault, each of which has its own roles, tokens and documents."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_common.path_digests import path_digest
from nemutator_common.secret import Secret

from tests.contract.credentials.places import RealPlace, adapter, eventually, real_place
from tests.fakes.brokers import JWT, BrokerSetup
from tests.fakes.peers import OTHER_POD, POD
from tests.fakes.pod_sockets import Node, OnTrust, call
from tests.fakes.vaults import FakeVault, MemoryVault
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.vault import Vault, VaultRefusedError

CLIENT = {"X-Vault-Request": "true"}
WORD = "secret/app#word"
A, B = "team-a", "team-b/web"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """The namespaces have the same path, and another word at it each."""
    made = Node(tmp_path, attestor=OnTrust())
    whole = made.setup.vault
    for namespace, vault in (("", whole), (A, whole.within(A)), (B, whole.within(B))):
        vault.state.write("secret/app", {"word": f"of {namespace or 'all'}"})
        for pod in (POD, OTHER_POD):
            role = f"{pod.namespace}.{pod.service_account}"
            vault.state.role(role, f"{JWT}-{pod.uid}", ["secret/app"])
    return made


def declared(namespace: str = "") -> Mapping[str, str]:
    words = {"secret.word": WORD}
    return words | {"vault-namespace": namespace} if namespace else words


def within(node: Node, namespace: str) -> MemoryVault:
    return node.setup.vault.within(namespace)


async def test_each_pod_has_what_its_own_namespace_has(node: Node) -> None:
    async with node.running():
        sockets = {
            "all": await node.publish("v1", POD, declared=declared()),
            A: await node.publish("v2", OTHER_POD, declared=declared(A)),
            B: await node.publish("v3", OTHER_POD, declared=declared(B)),
        }
        for name, socket in sockets.items():
            assert await call(socket, "/v1/secret/word?raw=1") == (200, f"of {name}")
            status, document = await call(socket, "/v1/secret/data/app", **CLIENT)
            assert (status, document["data"]["data"]) == (200, {"word": f"of {name}"})
    for vault in (node.setup.vault, within(node, A), within(node, B)):
        # Each token ended where it was made.
        assert (vault.state.calls["login"], vault.state.calls["read"]) == (1, 1)


async def test_a_token_is_renewed_and_revoked_in_its_namespace(node: Node) -> None:
    there = within(node, A).state
    async with node.running():
        socket = await node.publish("v1", declared=declared(A))
        await call(socket, "/v1/secret/word")
        (token,) = there.tokens
        await node.setup.clock.advance(2500)
        assert there.calls["renew"] == 1
        await node.publisher.withdraw("v1")
        await node.setup.clock.advance(1)
        assert there.revoked == [token]
    assert node.setup.calls == {}


async def test_a_change_in_one_namespace_is_none_in_another(node: Node) -> None:
    async with node.running():
        mine = await node.publish("v1", POD, declared=declared(A))
        theirs = await node.publish("v2", OTHER_POD, declared=declared(B))
        for socket in (mine, theirs):
            await call(socket, "/v1/secret/word")
        assert node.setup.meter.value(names.FOLLOWED_PATHS) == 2
        within(node, B).state.write("secret/app", {"word": "new"})
        while not node.setup.grants.of("rotate"):
            await node.setup.clock.advance(5)
        assert await call(theirs, "/v1/secret/word?raw=1") == (200, "new")
        assert await call(mine, "/v1/secret/word?raw=1") == (200, f"of {A}")
    (rotated,) = [one for one in node.setup.grants.all if one.operation == "rotate"]
    assert rotated.pod_uid == OTHER_POD.uid


async def test_who_read_it_is_found_by_the_path_with_its_namespace(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=declared(A))
        await call(socket, "/v1/secret/word")
        await call(socket, "/v1/secret/word")
    read = [one.path_digest for one in node.setup.grants.all if one.operation == "read"]
    assert read == [path_digest(Secret("k"), f"{A}/secret/app")] * 2


@pytest.mark.parametrize(("asked", "status"), [(A, 200), (f"{A}/", 200), (B, 403), ("root", 403)])
async def test_a_client_of_vault_is_served_in_the_pods_namespace_alone(
    node: Node, asked: str, status: int
) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=declared(A))
        more = {**CLIENT, "X-Vault-Namespace": asked}
        answered, document = await call(socket, "/v1/secret/data/app", **more)
        assert answered == status
        if status == 403:
            assert names.VAULT_NAMESPACE in document["errors"][0]


async def test_a_role_that_is_missing_there_is_named_with_its_namespace(node: Node) -> None:
    async with node.running():
        socket = await node.publish("v1", declared=declared("team-c"))
        status, document = await call(socket, "/v1/secret/word")
        assert (status, document["step"]) == (403, "login")
        assert "in Vault's namespace team-c" in document["remedy"]


@pytest.mark.parametrize(
    "namespace", ["/team", "team/", "a//b", "a/../b", "..", "a b", "a%2fb", "a\nX: y", "a" * 300]
)
async def test_what_is_no_namespace_is_refused_by_name_and_vault_is_not_asked(
    node: Node, namespace: str
) -> None:
    async with node.running():
        socket = await node.publish("v1", declared={**declared(), "vault-namespace": namespace})
        status, document = await call(socket, "/v1/secret/word")
        assert (status, document["step"]) == (400, "declaration")
        assert "vault-namespace: expected a namespace of Vault" in json.dumps(document)
    assert node.setup.calls == {}


async def test_the_namespace_of_a_pod_goes_before_that_of_the_setting(tmp_path: Path) -> None:
    with FakeVault() as fake, adapter(fake.url, namespace="of/all") as vault:
        fake.write("secret/app", {"word": "x"})
        node = Node(tmp_path, setup=BrokerSetup(other_vault=vault), attestor=OnTrust())
        for pod in (POD, OTHER_POD):
            fake.role(f"{pod.namespace}.{pod.service_account}", f"{JWT}-{pod.uid}", ["secret/app"])
        async with node.running():
            await call(await node.publish("v1", POD, declared=declared()), "/v1/secret/word")
            before = len(fake.headers)
            other = replace(OTHER_POD, uid="u-3")
            fake.role("bank.web", f"{JWT}-u-3", ["secret/app"])
            await call(await node.publish("v2", other, declared=declared(A)), "/v1/secret/word")
        named = [headers.get("X-Vault-Namespace") for headers in fake.headers]
    assert before
    assert set(named[:before]) == {"of/all"}
    assert set(named[before:]) >= {A}
    assert named[before:].count(A) >= 3


# --- OpenBao, which has namespaces ----------------------------------------------------------------
@dataclass(frozen=True)
class Bao:
    """A pod in a namespace of it, and the same account in none."""

    node: Node
    vault: Vault
    team: Vault
    """The same in the namespace."""
    namespace: str
    """Of Kubernetes and of Vault."""

    def tokens(self) -> list[str]:
        """Their accessors, in the namespace."""
        try:
            keys: list[str] = self.team.call("LIST", "auth/token/accessors")["data"]["keys"]
        except VaultRefusedError:  # there is none
            return []
        return keys

    async def publish(self, volume: str, **declared: str) -> Path:
        words = {"vault-role": f"{self.namespace}.default", **declared}
        return await self.node.publish(volume, declared=words)


@pytest.fixture
def pod_of_bao(bao: Vault, cluster: Cluster, tmp_path: Path) -> Iterator[Bao]:
    with real_place(bao, cluster) as whole, adapter(bao.url) as asked:
        team = bao.within(whole.folder)
        there = RealPlace(team, whole.folder)
        path = f"secret/{whole.folder}/own"
        node = Node(tmp_path, setup=BrokerSetup(other_vault=asked, wait_s=600))
        for place, word in ((whole, "of all"), (there, "of the team")):
            place.write(path, {"word": word})
            _, node.token = place.account(reads=[path])
        yield Bao(node, bao, team, whole.folder)


@pytest.mark.e2e
async def test_a_pod_of_openbao_is_served_in_its_namespace_alone(pod_of_bao: Bao) -> None:
    one = pod_of_bao
    declared = {"secret.word": f"secret/{one.namespace}/own#word"}
    async with one.node.running():
        beside = await one.publish("v1", **declared)
        socket = await one.publish("v2", **declared, **{"vault-namespace": one.namespace})
        assert await call(beside, "/v1/secret/word?raw=1") == (200, "of all")
        assert await call(socket, "/v1/secret/word?raw=1") == (200, "of the team")
        assert len(one.tokens()) == 1
        for volume in ("v1", "v2"):
            await one.node.publisher.withdraw(volume)
        await eventually(
            lambda: one.node.setup.grants.of("revoke") == ["granted"] * 2, "both are revoked"
        )
    assert one.tokens() == []


@pytest.mark.e2e
async def test_no_path_leads_a_pod_of_openbao_out_of_its_identity(pod_of_bao: Bao) -> None:
    """Its policy reaches into a namespace below with all rights; the socket does not."""
    one = pod_of_bao
    role, inside = f"{one.namespace}.default", one.namespace
    rights = '{ capabilities = ["create", "update", "read", "list", "delete", "sudo"] }'
    one.vault.policy(role, f'path "{inside}/*" {rights}\npath "secret/data/{inside}/own" {rights}')
    async with one.node.running():
        socket = await one.publish("v1", **{"secret.word": f"secret/{inside}/own#word"})
        for method, path in (
            ("POST", f"{inside}/auth/token/create"),
            ("POST", f"{inside}/auth/kubernetes/login"),
            ("GET", f"{inside}/auth/token/lookup-self"),
            ("PUT", f"{inside}/sys/policies/acl/mine"),
            ("GET", f"{inside}/sys/mounts"),
            ("POST", f"{inside}/identity/entity"),
        ):
            status, document = await call(socket, f"/v1/{path}", method=method, json={}, **CLIENT)
            assert status == 403, path
            assert "not served on the socket of a pod" in document["errors"][0], path
        read = await call(socket, f"/v1/{inside}/secret/data/{inside}/own", **CLIENT)
        assert read[0] == 200
        assert read[1]["data"]["data"] == {"word": "of the team"}
