"""Where the contract suites of stores run: on the fakes of fast tests, on SQLite, on the real PostgreSQL."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_controller.database.access import Database

from tests.fakes.databases import opened, opened_on
from tests.testbed.parts.postgres_databases import new_database

KINDS = ["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.e2e)]


@contextlib.contextmanager
def opened_for(request: pytest.FixtureRequest, folder: Path) -> Iterator[Database]:
    """The database of the kind that a fixture with `params=KINDS` is asked for, which is not memory."""
    if request.param == "sqlite":
        with opened(folder / "x.db") as database:
            yield database
        return
    postgres = request.getfixturevalue("postgres")
    with new_database(postgres, folder) as server, opened_on(server) as database:
        yield database
