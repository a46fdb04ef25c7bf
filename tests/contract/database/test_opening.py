"""Opening a database: made, migrated, or refused with a sentence."""

import contextlib
import sqlite3
import stat
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.database.schema import HEAD, metadata
from nemutator_controller.database.sqlite import SqliteEngines, open_sqlite
from nemutator_controller.database.upgrade import MIGRATIONS, migrate
from sqlalchemy import Connection, MetaData, create_engine, select

from tests.fakes.databases import LARGEST


def opened(path: Path) -> SqliteEngines:
    return open_sqlite(path, largest_bytes=LARGEST)


def refused(path: Path) -> OperatorError:
    with pytest.raises(OperatorError) as refusal:
        opened(path)
    assert str(path) in refusal.value.what
    return refusal.value


def revisions() -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    return [revision.revision for revision in script.walk_revisions()]


def test_the_newest_revision_is_the_one_written_down() -> None:
    assert revisions()[0] == HEAD


@pytest.mark.slow
@pytest.mark.parametrize("revision", revisions())
def test_every_older_form_becomes_todays_with_what_is_in_it(tmp_path: Path, revision: str) -> None:
    path = tmp_path / "x.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrate(connection, revision)
        before = filled(connection)
    engine.dispose()
    engines = opened(path)
    with engines.reading(5) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert kept(connection, before) == before
    engines.close()


def test_what_an_older_version_took_back_of_templates_is_named_as_theirs(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    engine = create_engine(f"sqlite:///{path}")
    asked = [
        ("admission-1", "Deployment", "metadata.labels[a]"),
        ("admission-1", "Deployment", "workload.metadata.labels[a]"),
        ("admission-1", "Pod", "metadata.labels[b]"),
        # What a machine without a cluster applied.
        ("brain", "Deployment", "metadata.labels[c]"),
    ]
    with engine.begin() as connection:
        migrate(connection, "0015")
        there = MetaData()
        there.reflect(connection)
        for number, (writer, kind, field) in enumerate(asked):
            words = dict.fromkeys(("namespace", "name", "state"), "x")
            one = {**words, "id": f"d{number}", "at": 1, "writer": writer, "document": b"{}"}
            connection.execute(there.tables["decisions"].insert().values(kind=kind, **one))
            stone = {"namespace": "x", "owner_kind": "Deployment", "owner_name": "web", "at": 1}
            of = {"path": field, "decision": f"d{number}"}
            connection.execute(there.tables["tombstones"].insert().values(**stone, **of))
    engine.dispose()
    engines = opened(path)
    with engines.reading(5) as connection:
        found = set(connection.scalars(select(metadata.tables["tombstones"].c.path)))
    assert found == {
        "template.metadata.labels[a]",
        "workload.metadata.labels[a]",
        "metadata.labels[b]",
        "metadata.labels[c]",
    }
    engines.close()


Rows = dict[str, dict[str, object]]
VALUES: dict[type, object] = {int: 7, float: 1.5, str: "x", bytes: b"{}", bool: True}


def filled(connection: Connection) -> Rows:
    """What now stands in each table: one row."""
    there = MetaData()
    there.reflect(connection)
    found: Rows = {}
    for table in there.sorted_tables:
        if table.name != "alembic_version":
            row = {column.name: VALUES[column.type.python_type] for column in table.columns}
            connection.execute(table.insert().values(row))
            found[table.name] = row
    assert found
    return found


def kept(connection: Connection, before: Rows) -> Rows:
    """Of each table of *before* its one row, in the columns that it had."""
    there = MetaData()
    there.reflect(connection)
    found: Rows = {}
    for name in before:
        (row,) = connection.execute(there.tables[name].select()).mappings()
        found[name] = {column: row.get(column) for column in before[name]}
    return found


def test_a_new_file_and_its_journal_are_private(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    engines = opened(path)
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    engines.close()
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch(mode=0o644)
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_readers_cannot_write(tmp_path: Path) -> None:
    engines = opened(tmp_path / "x.db")
    with engines.reading(5) as connection, pytest.raises(Exception, match="readonly"):
        connection.exec_driver_sql("DELETE FROM history")
    engines.close()


@pytest.mark.parametrize(
    "content",
    [b"not a database at all" * 100, b"SQLite format 3\0" * 300, bytes(range(256)) * 64],
)
def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    assert refused(path).code == ExitCode.DATABASE
    assert path.read_bytes() == content


def test_a_damaged_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened(path).close()
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xa5" * 4096
    path.write_bytes(content)
    error = refused(path)
    assert error.code == ExitCode.DATABASE
    assert "damaged" in error.what


def test_one_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened(path).close()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert refused(path).code == ExitCode.DATABASE


@pytest.mark.parametrize("revision", ["9999", "0000", "from a branch", "", None])
def test_one_of_a_version_that_is_not_known_is_refused_and_left_alone(
    tmp_path: Path, revision: str | None
) -> None:
    path = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        if revision is not None:
            database.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
        database.commit()
    before = path.read_bytes()
    assert refused(path).code == ExitCode.DATABASE
    assert path.read_bytes() == before


def test_another_programs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    assert "another program" in refused(path).what


def test_a_newer_one_is_refused_and_both_forms_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    error = refused(path)
    assert error.code == ExitCode.DATABASE
    assert "9999" in error.what
    assert HEAD in error.what


@pytest.mark.slow
def test_one_that_another_program_holds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    error = refused(path)
    other.close()
    assert "lock" in error.what


def test_a_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.mkdir()
    assert refused(path).code == ExitCode.DATA_DIRECTORY
