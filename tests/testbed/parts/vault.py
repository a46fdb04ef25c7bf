"""HashiCorp Vault, or OpenBao, in dev mode on loopback, which asks a cluster who a service account is.

In dev mode all is in memory, and one that is *kept* has a folder, so that it can be killed. It is not initialised by itself but by us: a dev server that does so
prints its root token and its unseal key to its log, and keeps the key from whoever wants to unseal.
"""

import contextlib
import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from nemutator_common.secret import Secret

from tests.testbed.building import made
from tests.testbed.parts.asking import is_well
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

READY_S = 60.0
CALL_S = 60.0
REVIEWER_NAMESPACE = "vault-testbed"
REVIEWER = "vault-reviewer"
# Longer than any session: a developer's shell stays open over a day's work.
REVIEWER_LASTS = "24h"


class VaultRefusedError(Exception):
    """Vault's answer was an error: its status and its own words."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"{status}: {said}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Vault:
    """How to reach Vault, with all rights."""

    cluster: Cluster
    port: int
    daemon: Daemon
    root_token: Secret
    unseal_key: Secret
    namespace: str = ""
    is_openbao: bool = False

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: Secret | None = None,
        wrap_ttl: str = "",
    ) -> dict[str, Any]:
        """What Vault answers below /v1/, as root unless *token* is another's; {} for no content."""
        asks = token or self.root_token
        return _call(
            self.port, method, path, body,
            token=asks, wrap_ttl=wrap_ttl, namespace=self.namespace,
        )  # fmt: skip

    def within(self, namespace: str) -> "Vault":
        """A new namespace of it, with an engine and a login of its own."""
        self.call("POST", f"sys/namespaces/{namespace}")
        other = replace(self, namespace=namespace)
        _equip(other)
        return other

    def policy(self, name: str, rules: str) -> None:
        self.call("PUT", f"sys/policies/acl/{name}", {"policy": rules})

    def role(
        self,
        name: str,
        *,
        namespace: str,
        service_account: str,
        policies: Sequence[str],
        audience: str = "vault",
    ) -> None:
        """Let a service account log in with a token that was made for *audience*."""
        self.call(
            "POST",
            f"auth/kubernetes/role/{name}",
            {
                "bound_service_account_namespaces": [namespace],
                "bound_service_account_names": [service_account],
                "audience": audience,
                "token_policies": list(policies),
                "token_ttl": "1h",
            },
        )

    def login(self, role: str, service_account_token: str) -> Secret:
        """The token that Vault gives for a service account's; raises VaultRefusedError."""
        body = {"role": role, "jwt": service_account_token}
        answer = _call(self.port, "POST", "auth/kubernetes/login", body, namespace=self.namespace)
        return Secret(answer["auth"]["client_token"])

    def seal(self) -> None:
        """Let it answer 503 to everything until it is unsealed; what it stores stays."""
        self.call("PUT", "sys/seal")

    def unseal(self) -> None:
        _unseal(self.port, self.unseal_key)


def begin(
    cluster: Cluster, name: Literal["vault", "bao"] = "vault", *, kept: bool = False
) -> Vault:
    """Start it in the cluster's run, with a secret engine (KV 2) at secret/ and the login wired."""
    port = free_port(with_next=True)  # it takes the next one for itself
    daemon = cluster.run.daemon(
        name,
        [
            made.bao() if name == "bao" else made.vault(), "server",
            *(_kept(cluster, name, port) if kept else _in_memory(port)),
        ],
        # Of /health a server that is not initialised says 501, which is right and is no answer.
        ready=lambda: is_well(port, "/v1/sys/seal-status"),
        within_s=READY_S,
    )  # fmt: skip
    keys = _call(port, "PUT", "sys/init", {"secret_shares": 1, "secret_threshold": 1})
    vault = Vault(
        cluster=cluster,
        port=port,
        daemon=daemon,
        root_token=Secret(keys["root_token"]),
        unseal_key=Secret(keys["keys"][0]),
        is_openbao=name == "bao",
    )
    vault.unseal()
    _equip(vault)
    return vault


def _in_memory(port: int) -> Sequence[str]:
    address = f"-dev-listen-address={LOOPBACK}:{port}"
    return "-dev", "-dev-skip-init", "-dev-no-store-token", address


def _kept(cluster: Cluster, name: str, port: int) -> Sequence[str]:
    """Sealed after each start."""
    configuration = {
        "storage": {"raft": {"path": str(cluster.run.folder(f"{name}-kept")), "node_id": "one"}},
        "listener": {"tcp": {"address": f"{LOOPBACK}:{port}", "tls_disable": True}},
        "disable_mlock": True,
        "api_addr": f"http://{LOOPBACK}:{port}",
        "cluster_addr": f"https://{LOOPBACK}:{port + 1}",
    }
    file = cluster.run.file(f"{name}-kept.json", json.dumps(configuration))
    return (f"-config={file}",)


def _equip(vault: Vault) -> None:
    vault.call("POST", "sys/mounts/secret", {"type": "kv", "options": {"version": "2"}})
    _wire_login(vault)


def _unseal(port: int, key: Secret) -> None:
    _call(port, "PUT", "sys/unseal", {"key": key.reveal()})
    until(lambda: is_well(port, "/v1/sys/health"), "Vault is unsealed", within_s=READY_S)


def _wire_login(vault: Vault) -> None:
    """Let Vault ask the cluster about tokens, as a service account that may do nothing else."""
    cluster = vault.cluster
    subject = {"kind": "ServiceAccount", "name": REVIEWER, "namespace": REVIEWER_NAMESPACE}
    reviews = "system:auth-delegator"
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": REVIEWER_NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": REVIEWER, "namespace": REVIEWER_NAMESPACE},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": REVIEWER},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": reviews,
            },
            "subjects": [subject],
        },
    )  # fmt: skip
    until(lambda: _may_review(cluster), "Vault may ask about tokens", within_s=READY_S)
    reviewer_token = cluster.kubectl(
        "create", "token", REVIEWER,
        f"--namespace={REVIEWER_NAMESPACE}", f"--duration={REVIEWER_LASTS}",
    ).strip()  # fmt: skip
    vault.call("POST", "sys/auth/kubernetes", {"type": "kubernetes"})
    vault.call(
        "POST",
        "auth/kubernetes/config",
        {
            "kubernetes_host": cluster.url,
            "kubernetes_ca_cert": cluster.authority.certificate,
            "token_reviewer_jwt": reviewer_token,
            "disable_local_ca_jwt": True,  # it is in no pod, and has neither
        },
    )


def _may_review(cluster: Cluster) -> bool:
    """Whether the API server has taken notice of the binding, which it does a little later."""
    who = f"--as=system:serviceaccount:{REVIEWER_NAMESPACE}:{REVIEWER}"
    try:
        cluster.kubectl("auth", "can-i", "create", "tokenreviews.authentication.k8s.io", who)
    except KubectlError:  # no is exit code 1
        return False
    return True


def _call(
    port: int,
    method: str,
    path: str,
    body: object = None,
    *,
    token: Secret | None = None,
    wrap_ttl: str = "",
    namespace: str = "",
) -> dict[str, Any]:
    headers = {"X-Vault-Token": token.reveal()} if token is not None else {}
    if namespace:
        headers["X-Vault-Namespace"] = namespace
    if wrap_ttl:
        headers["X-Vault-Wrap-TTL"] = wrap_ttl
    given = None if body is None else json.dumps(body)
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=CALL_S)
    with contextlib.closing(connection):
        connection.request(method, f"/v1/{path}", body=given, headers=headers)
        response = connection.getresponse()
        said = response.read().decode()
    if response.status >= http.client.BAD_REQUEST:
        raise VaultRefusedError(response.status, said)
    answer: dict[str, Any] = json.loads(said) if said else {}
    return answer
