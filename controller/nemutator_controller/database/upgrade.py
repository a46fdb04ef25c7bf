"""Upgrades the tables of an older version to this version's schema, by Alembic."""

import logging
from pathlib import Path

from sqlalchemy import Connection

MIGRATIONS = Path(__file__).parent / "migrations"


def can_migrate_from(revision: str) -> bool:
    """Whether *revision* is one of ours: each is in a file `r<revision>_<what>.py`."""
    steps = (MIGRATIONS / "versions").glob("r*_*.py")
    return revision in {step.name[1:].partition("_")[0] for step in steps}


def migrate(connection: Connection, to: str = "head") -> None:
    """Run the missing migrations up to *to* in the caller's transaction: all of them or none."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # Alembic is imported here because almost no start needs it.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # ConfigParser would take a % for an interpolation.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, to)
