"""OpenBao's engine of kind kubernetes, which lends tokens of service accounts by a write with parameters."""

import base64
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.secret import Secret

from tests.contract.credentials.places import adapter, eventually, real_place
from tests.fakes.brokers import BrokerSetup
from tests.fakes.pod_sockets import Node, call
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.lent_databases import leases_of
from tests.testbed.parts.vault import Vault

pytestmark = pytest.mark.e2e

MOUNT = "kubernetes"
TERM_S = 600


@dataclass(frozen=True)
class Lender:
    bao: Vault
    node: Node
    namespace: str

    @property
    def path(self) -> str:
        return f"{MOUNT}/creds/{self.namespace}"

    @property
    def reference(self) -> str:
        return f"{self.path}?kubernetes_namespace={self.namespace}"


@pytest.fixture
def lender(bao: Vault, cluster: Cluster, tmp_path: Path) -> Iterator[Lender]:
    with contextlib.ExitStack() as stack:
        namespace = stack.enter_context(real_place(bao, cluster)).folder
        asked = stack.enter_context(adapter(bao.url))
        bao.call("POST", f"sys/mounts/{MOUNT}", {"type": "kubernetes"})
        stack.callback(bao.call, "DELETE", f"sys/mounts/{MOUNT}")
        bao.call(
            "POST",
            f"{MOUNT}/config",
            {
                "kubernetes_host": cluster.url,
                "kubernetes_ca_cert": cluster.authority.certificate,
                "service_account_jwt": _who_makes_tokens(cluster, namespace),
                "disable_local_ca_jwt": True,
            },
        )
        bao.call(
            "POST",
            f"{MOUNT}/roles/{namespace}",
            {
                "allowed_kubernetes_namespaces": [namespace],
                "service_account_name": "default",
                "token_default_ttl": f"{TERM_S}s",
            },
        )
        role = f"{namespace}.default"
        bao.policy(role, f'path "{MOUNT}/creds/{namespace}" {{ capabilities = ["update"] }}')
        bao.role(role, namespace=namespace, service_account="default", policies=[role])
        node = Node(tmp_path, setup=BrokerSetup(other_vault=asked, wait_s=TERM_S))
        node.token = Secret(cluster.token(namespace, "default", audience="vault"))
        yield Lender(bao, node, namespace)


def _who_makes_tokens(cluster: Cluster, namespace: str) -> str:
    rules = [{"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}]
    named = {"name": "lender", "namespace": namespace}
    rbac = "rbac.authorization.k8s.io"
    cluster.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named},
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": named, "rules": rules},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": named,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "lender"},
            "subjects": [{"kind": "ServiceAccount", **named}],
        },
    )
    return cluster.token(namespace, "lender")


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(f"{part}=="))
    return claims


async def test_a_token_of_a_service_account_is_lent_followed_and_ends_with_the_pod(
    lender: Lender,
) -> None:
    declared = {
        "vault-role": f"{lender.namespace}.default",
        "secret.token": f"{lender.reference}#service_account_token",
        "secret.name": f"{lender.reference}#service_account_name",
    }
    node = lender.node
    async with node.running():
        socket = await node.publish("v1", declared=declared)
        status, token = await call(socket, "/v1/secret/token?raw=1")
        assert status == 200, token
        assert claims_of(token)["sub"] == f"system:serviceaccount:{lender.namespace}:default"
        # Both names are of one lease, and who asks again has the same.
        assert await call(socket, "/v1/secret/name?raw=1") == (200, "default")
        assert await call(socket, "/v1/secret/token?raw=1") == (200, token)
        assert len(leases_of(lender.bao, lender.path)) == 1
        await node.setup.clock.advance(0.72 * TERM_S)
        records = node.setup.grants.all
        await eventually(
            lambda: {"renewed", "replaced"} & {record.reason for record in records},
            "it goes on before it ends",
        )
        status, later = await call(socket, "/v1/secret/token?raw=1")
        assert (status, claims_of(later)["sub"]) == (200, claims_of(token)["sub"])
        await node.publisher.withdraw("v1")
        await eventually(
            lambda: not leases_of(lender.bao, lender.path), "what was lent ends with the pod"
        )
