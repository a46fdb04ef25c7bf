"""Databases of PostgreSQL for brains: each for one test, owned by an ordinary user."""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from nemutator_controller.database.postgres import Server, server_of

from tests.testbed.parts.postgres import Postgres
from tests.testbed.running.ports import LOOPBACK


@contextlib.contextmanager
def new_database(postgres: Postgres, folder: Path) -> Iterator[Server]:
    """An empty database; its password stands in a file in *folder*."""
    name = f"brain_{secrets.token_hex(6)}"
    password_file = folder / f"{name}.password"
    password_file.write_text(secrets.token_hex(16))
    postgres.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{password_file.read_text()}'")
    postgres.sql(f"CREATE DATABASE {name} OWNER {name}")
    try:
        yield server_of(url_of(postgres, name), str(password_file))
    finally:
        postgres.sql(f"DROP DATABASE {name} WITH (FORCE)")
        postgres.sql(f"DROP ROLE {name}")


def url_of(postgres: Postgres, name: str) -> str:
    """As the setting `brain.database` has it; database and user have the same name."""
    return f"postgresql://{name}@{LOOPBACK}:{postgres.port}/{name}"


def settings_of(server: Server) -> list[str]:
    """The same for a brain's command line."""
    return [
        f"--database={server.place}",
        f"--database-password-file={server.password_file}",
    ]
