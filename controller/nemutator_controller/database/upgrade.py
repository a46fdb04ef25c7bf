"""Bringing the tables of an older version to this one's shape, by Alembic."""

import logging
from pathlib import Path

from sqlalchemy import Connection

MIGRATIONS = Path(__file__).parent / "migrations"


def can_migrate_from(revision: str) -> bool:
    """Whether *revision* is one of ours: each stands in a file `r<revision>_<what>.py`."""
    steps = (MIGRATIONS / "versions").glob("r*_*.py")
    return revision in {step.name[1:].partition("_")[0] for step in steps}


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
