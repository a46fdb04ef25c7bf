"""A pod logs in to Vault with the token that kubelet gave it, and reads what its policy allows."""

import pytest

from tests.e2e.testbed.workloads import container, sleeping, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.vault import Vault, VaultRefusedError

TOKEN = "/var/run/tokens/vault"


def with_token(name: str, namespace: str) -> dict[str, object]:
    """A pod whose token is for Vault and nobody else."""
    projected = {"path": "vault", "audience": "vault", "expirationSeconds": 600}
    return sleeping(
        name,
        namespace,
        containers=[container(volumeMounts=[{"name": "tokens", "mountPath": "/var/run/tokens"}])],
        volumes=[
            {"name": "tokens", "projected": {"sources": [{"serviceAccountToken": projected}]}}
        ],
    )


@pytest.mark.timeout(120)  # a pod and its end, on a machine that may be busy
def test_a_pods_token_opens_its_own_secret_alone(
    cluster: Cluster, image: ImageStore, vault: Vault, namespace: str
) -> None:
    for name in ("own", "others"):
        vault.call("POST", f"secret/data/{namespace}/{name}", {"data": {"user": name}})
    own = f"secret/data/{namespace}/own"
    vault.policy(namespace, f'path "{own}" {{ capabilities = ["read"] }}')
    vault.role(namespace, namespace=namespace, service_account="default", policies=[namespace])
    cluster.apply(with_token("app", namespace))
    wait_ready(cluster, namespace, "pod/app")
    where = f"--namespace={namespace}"

    jwt = cluster.kubectl("exec", "app", where, "--", "cat", TOKEN)
    token = vault.login(namespace, jwt)
    assert vault.call("GET", own, token=token)["data"]["data"] == {"user": "own"}
    with pytest.raises(VaultRefusedError, match="permission denied"):
        vault.call("GET", f"secret/data/{namespace}/others", token=token)
