"""Vault's database engine, which lends users of PostgreSQL under the role `app`."""

import contextlib
from collections.abc import Iterator

from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.vault import Vault, VaultRefusedError
from tests.testbed.running.ports import LOOPBACK

CREATED = "CREATE ROLE \"{{name}}\" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'"


@contextlib.contextmanager
def database_engine(
    vault: Vault, postgres: Postgres, mount: str, *, term: str, longest: str
) -> Iterator[str]:
    """The path at *mount* whose reading lends a user, for a *term* that can be renewed up to the *longest*."""
    address = f"{LOOPBACK}:{postgres.port}/postgres?sslmode=disable"
    vault.call("POST", f"sys/mounts/{mount}", {"type": "database"})
    try:
        vault.call(
            "POST",
            f"{mount}/config/postgres",
            {
                "plugin_name": "postgresql-database-plugin",
                "allowed_roles": "*",
                "connection_url": f"postgresql://{{{{username}}}}:{{{{password}}}}@{address}",
                "username": "postgres",
                "password": postgres.password.reveal(),
            },
        )
        yield lent_by(vault, mount, "app", term=term, longest=longest)
    finally:
        vault.call("DELETE", f"sys/mounts/{mount}")


def lent_by(vault: Vault, mount: str, role: str, *, term: str, longest: str) -> str:
    """The path whose reading lends a user of the engine at *mount* under another *role*."""
    vault.call(
        "POST",
        f"{mount}/roles/{role}",
        {
            "db_name": "postgres",
            "creation_statements": [CREATED],
            "default_ttl": term,
            "max_ttl": longest,
        },
    )
    return f"{mount}/creds/{role}"


def leases_of(vault: Vault, lent: str) -> list[str]:
    """What is lent at the path *lent* at this moment, by the end of each lease's name."""
    try:
        keys: list[str] = vault.call("LIST", f"sys/leases/lookup/{lent}")["data"]["keys"]
    except VaultRefusedError:  # there is none
        return []
    return keys
