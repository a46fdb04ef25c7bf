"""Vault's database engine, which lends users of PostgreSQL under the role `app`."""

import contextlib
from collections.abc import Iterator

from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.vault import Vault
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
                "allowed_roles": "app",
                "connection_url": f"postgresql://{{{{username}}}}:{{{{password}}}}@{address}",
                "username": "postgres",
                "password": postgres.password.reveal(),
            },
        )
        vault.call(
            "POST",
            f"{mount}/roles/app",
            {
                "db_name": "postgres",
                "creation_statements": [CREATED],
                "default_ttl": term,
                "max_ttl": longest,
            },
        )
        yield f"{mount}/creds/app"
    finally:
        vault.call("DELETE", f"sys/mounts/{mount}")
