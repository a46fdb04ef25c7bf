import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_controller.database.access import Database

from tests.fakes.command_lines import CommandLine
from tests.fakes.databases import opened, opened_on
from tests.testbed.parts.postgres_databases import new_database


@pytest.fixture
def nemutator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Asks the brain whose directory is `data` in the test's own."""
    return CommandLine(tmp_path / "data", capsys)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Mapping[str, Database]]:
    """By cluster, as brains of a fleet have them. A file has one."""
    if request.param == "sqlite":
        with opened(tmp_path / "x.db") as database:
            yield {"east": database}
        return
    postgres = request.getfixturevalue("postgres")
    with new_database(postgres, tmp_path) as server, contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(opened_on(replace(server, schema=f"nemutator_{name}")))
            for name in ("east", "west")
        }
