"""Vault knows the cluster's service accounts, and makes logins for the real PostgreSQL."""

from pathlib import Path

import pytest
from nemutator_common.secret import Secret

from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.postgres import ADMINISTRATOR, Postgres, SqlError
from tests.testbed.parts.vault import Vault, VaultRefusedError
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.waiting import until

LOGIN = """\
CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'
"""


@pytest.fixture
def role(vault: Vault, namespace: str) -> str:
    """Opens secret/<namespace>/own, and no other, to the namespace's service account `default`."""
    for name in ("own", "others"):
        vault.call("POST", f"secret/data/{namespace}/{name}", {"data": {"word": name}})
    vault.policy(namespace, f'path "secret/data/{namespace}/own" {{ capabilities = ["read"] }}')
    vault.role(namespace, namespace=namespace, service_account="default", policies=[namespace])
    return namespace


def refuses(vault: Vault, role: str, token: str) -> bool:
    try:
        vault.login(role, token)
    except VaultRefusedError as refused:
        return refused.status == 403
    return False


def test_a_service_account_reads_what_its_role_allows_and_nothing_else(
    cluster: Cluster, vault: Vault, role: str
) -> None:
    token = vault.login(role, cluster.token(role, "default", audience="vault"))
    own = vault.call("GET", f"secret/data/{role}/own", token=token)
    assert own["data"]["data"] == {"word": "own"}
    with pytest.raises(VaultRefusedError, match="permission denied"):
        vault.call("GET", f"secret/data/{role}/others", token=token)


@pytest.mark.parametrize("audience", ["", "somebody-else"])
def test_a_token_for_another_audience_is_refused(
    cluster: Cluster, vault: Vault, role: str, audience: str
) -> None:
    with pytest.raises(VaultRefusedError, match="invalid audience"):
        vault.login(role, cluster.token(role, "default", audience=audience))


def test_an_account_of_another_namespace_is_refused(
    cluster: Cluster, vault: Vault, role: str
) -> None:
    with pytest.raises(VaultRefusedError, match="namespace not authorized"):
        vault.login(role, cluster.token("default", "default", audience="vault"))


def test_another_account_of_the_namespace_is_refused(
    cluster: Cluster, vault: Vault, role: str
) -> None:
    cluster.kubectl("create", "serviceaccount", "other", f"--namespace={role}")
    with pytest.raises(VaultRefusedError, match="service account name not authorized"):
        vault.login(role, cluster.token(role, "other", audience="vault"))


def test_a_token_that_the_cluster_has_not_signed_is_refused(
    cluster: Cluster, vault: Vault, role: str
) -> None:
    head, claims, signature = cluster.token(role, "default", audience="vault").split(".")
    swapped = signature[1:] + signature[:1]
    assert refuses(vault, role, f"{head}.{claims}.{swapped}")


def test_the_token_of_a_deleted_account_is_refused(
    cluster: Cluster, vault: Vault, namespace: str
) -> None:
    cluster.kubectl("create", "serviceaccount", "leaving", f"--namespace={namespace}")
    role = f"{namespace}-leaving"
    vault.role(role, namespace=namespace, service_account="leaving", policies=["default"])
    # Two, because the API server remembers for 10 s that a token was good.
    tokens = [cluster.token(namespace, "leaving", audience="vault") for _ in range(2)]
    vault.login(role, tokens[0])
    cluster.kubectl("delete", "serviceaccount", "leaving", f"--namespace={namespace}")
    # It answers from a cache, too, which learns of the deletion a moment later.
    until(lambda: refuses(vault, role, tokens[1]), "the token is refused", within_s=60)


def test_a_sealed_vault_answers_nobody_and_forgets_nothing(
    cluster: Cluster, vault: Vault, role: str
) -> None:
    token = vault.login(role, cluster.token(role, "default", audience="vault"))
    vault.seal()
    try:
        with pytest.raises(VaultRefusedError, match="Vault is sealed") as refused:
            vault.call("GET", f"secret/data/{role}/own", token=token)
        assert refused.value.status == 503
    finally:
        vault.unseal()
    assert vault.call("GET", f"secret/data/{role}/own", token=token)["data"]


def test_postgresql_accepts_a_login_of_vaults_until_it_is_revoked(
    vault: Vault, postgres: Postgres, namespace: str
) -> None:
    mount = f"database-{namespace}"
    vault.call("POST", f"sys/mounts/{mount}", {"type": "database"})
    address = f"{LOOPBACK}:{postgres.port}/postgres?sslmode=disable"
    vault.call(
        "POST",
        f"{mount}/config/testbed",
        {
            "plugin_name": "postgresql-database-plugin",
            "connection_url": f"postgresql://{{{{username}}}}:{{{{password}}}}@{address}",
            "username": ADMINISTRATOR,
            "password": postgres.password.reveal(),
            "allowed_roles": ["app"],
        },
    )
    vault.call(
        "POST",
        f"{mount}/roles/app",
        {"db_name": "testbed", "creation_statements": [LOGIN], "default_ttl": "10m"},
    )
    lease = vault.call("GET", f"{mount}/creds/app")
    user, password = lease["data"]["username"], Secret(lease["data"]["password"])
    assert postgres.sql("SELECT current_user", user=user, password=password) == user
    vault.call("PUT", "sys/leases/revoke", {"lease_id": lease["lease_id"], "sync": True})
    with pytest.raises(SqlError, match="password authentication failed"):
        postgres.sql("SELECT 1", user=user, password=password)


def test_a_secret_engine_of_version_1_keeps_what_it_is_given(vault: Vault, namespace: str) -> None:
    mount = f"kv1-{namespace}"
    vault.call("POST", f"sys/mounts/{mount}", {"type": "kv", "options": {"version": "1"}})
    vault.call("PUT", f"{mount}/app", {"word": "old"})
    assert vault.call("GET", f"{mount}/app")["data"] == {"word": "old"}


def test_transit_gives_back_what_it_has_encrypted(vault: Vault, namespace: str) -> None:
    mount = f"transit-{namespace}"
    vault.call("POST", f"sys/mounts/{mount}", {"type": "transit"})
    vault.call("POST", f"{mount}/keys/app")
    sealed = vault.call("POST", f"{mount}/encrypt/app", {"plaintext": "d29yZA=="})["data"]
    opened = vault.call("POST", f"{mount}/decrypt/app", {"ciphertext": sealed["ciphertext"]})
    assert opened["data"]["plaintext"] == "d29yZA=="


def test_pki_issues_certificates(vault: Vault, namespace: str) -> None:
    mount = f"pki-{namespace}"
    vault.call("POST", f"sys/mounts/{mount}", {"type": "pki"})
    own_authority = "root/generate/internal"
    named = {"common_name": "testbed", "key_type": "ec", "key_bits": 256}
    vault.call("POST", f"{mount}/{own_authority}", named)
    vault.call("POST", f"{mount}/roles/app", {"allow_any_name": True, "key_type": "ec"})
    issued = vault.call("POST", f"{mount}/issue/app", {"common_name": "app.example", "ttl": "1h"})
    assert issued["data"]["certificate"].startswith("-----BEGIN CERTIFICATE-----")


def test_nobody_else_sees_the_keys_of_vault(vault: Vault) -> None:
    assert vault.call("GET", "auth/token/lookup-self")["data"]["policies"] == ["root"]
    process = Path(f"/proc/{vault.daemon.pid}")
    seen = [vault.daemon.log.read_bytes(), (process / "cmdline").read_bytes(), repr(vault).encode()]
    for secret in (vault.root_token, vault.unseal_key):
        assert all(secret.reveal().encode() not in text for text in seen)
