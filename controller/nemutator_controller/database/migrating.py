"""Bringing the tables of an older version to this one's shape, by Alembic."""

import logging
from pathlib import Path

from sqlalchemy import Connection

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(connection: Connection, to: str = "head") -> None:
    """Run what is missing up to *to*, inside the caller's transaction: all of it or nothing."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # Imported here: almost no start needs it.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # A % would be an interpolation to ConfigParser.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, to)
