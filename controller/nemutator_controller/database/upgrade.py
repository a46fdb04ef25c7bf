"""Upgrades the tables of an older version to this version's schema, by Alembic."""

import logging
from collections.abc import Collection
from pathlib import Path

from sqlalchemy import Connection, text

from nemutator_controller.database.schema import HEAD

MIGRATIONS = Path(__file__).parent / "migrations"


def can_migrate_from(revision: str) -> bool:
    """Whether *revision* is one of ours: each is in a file `r<revision>_<what>.py`."""
    steps = (MIGRATIONS / "versions").glob("r*_*.py")
    return revision in {step.name[1:].partition("_")[0] for step in steps}


class NewerFormError(Exception):
    """A newer version has written the database."""


class ForeignFormError(Exception):
    """What stands in the database, no version of nemutator has written."""


def written_by(connection: Connection, tables: Collection[str]) -> str | None:
    """The revision of a database that has *tables*; None: it is empty."""
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise ForeignFormError("it holds another program's tables")
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if revision is None:
        raise ForeignFormError("it does not say which version has written it")
    if revision > HEAD:
        raise NewerFormError(
            f"a newer nemutator has written it (its form is {revision}, this version knows {HEAD})"
        )
    if not can_migrate_from(revision):
        raise ForeignFormError(
            f"no version of nemutator is known to have written it ({revision!r})"
        )
    return revision


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
