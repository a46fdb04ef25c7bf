"""What bad input gets from `nemutator up`: one message, a remedy, an exit code, no traceback."""

import contextlib
import os
import socket
import sqlite3
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode

from tests.e2e.ordinary import NOBODY
from tests.e2e.standing import Person, fill, small_disk, standing
from tests.testbed.running.ports import free_port

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount, and be others")


def refused(code: ExitCode, *arguments: str | Path, person: Person = Person()) -> str:  # noqa: B008 - frozen
    """What `up` says when it does not start."""
    console = ["--console", f"127.0.0.1:{free_port()}"] if "--console" not in arguments else []
    ran = person.run("up", *console, *arguments)
    assert ran.code == code, ran.stderr
    # A slow machine is told meanwhile who is waited for.
    assert not ran.stdout or "not ready: " in ran.stdout, "stdout is for what was asked for"
    assert "Traceback" not in ran.stderr
    assert "remedy: " in ran.stderr
    return ran.stderr


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_all_wrong_settings_are_named_at_once(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('colour = "red"\nlog_level = 7\n[up]\nprivilege = "never"\n')
    person = Person(
        environment={"NEMUTATOR_SHAPE": "round", "NEMUTATOR_UP_PRIVILEGES": "sometimes"}
    )
    arguments = ("--config", file, "--lifeline", "perhaps", "--log-format", "yaml")
    said = refused(ExitCode.SETTINGS, "--data-dir", data, *arguments, person=person)
    for wrong in (
        "colour: unknown setting",
        "log_level=7",
        "up.privilege: unknown setting (did you mean privileges?)",
        "NEMUTATOR_SHAPE: unknown setting",
        "NEMUTATOR_UP_PRIVILEGES='sometimes'",
        "--lifeline='perhaps'",
        "--log-format='yaml'",
    ):
        assert wrong in said
    assert said.count("remedy: ") == 1
    assert not data.exists(), "nothing was begun"


def test_an_unknown_option_is_named(data: Path) -> None:
    ran = Person().run("up", "--data-dir", data, "--colour", "red")
    assert ran.code == ExitCode.USAGE
    assert "--colour" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_wrong_settings_of_the_processes_are_named_with_our_own_and_once(
    data: Path, tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(
        'colour = "red"\n[up]\nprivileges = 1\n'
        '[brain]\nconsol = "x"\nstale_after_s = 0\n'
        "[observe]\nintervals = 1\nprocesses = 0\n"
    )
    person = Person(environment={"NEMUTATOR_OBSERVE_CALL_S": "soon"})
    said = refused(ExitCode.SETTINGS, "--data-dir", data, "--config", file, person=person)
    for wrong in (
        "colour: ",
        "up.privileges=1",
        "brain.consol: ",
        "brain.stale_after_s=0",
        "observe.intervals: ",
        "observe.processes=0",
        "NEMUTATOR_OBSERVE_CALL_S='soon'",
    ):
        assert said.count(wrong) == 1
    assert not data.exists(), "nothing was started, and nothing was left behind"


def test_a_console_beyond_this_machine_is_refused(data: Path) -> None:
    said = refused(ExitCode.SETTINGS, "--data-dir", data, "--console", "0.0.0.0:0")
    assert "--console='0.0.0.0:0'" in said


@pytest.mark.parametrize("kind", ["missing", "a directory", "no TOML", "binary", "forbidden"])
def test_a_settings_file_that_cannot_be_read(home: Path, ordinary: Person, kind: str) -> None:
    file = home / "settings.toml"
    match kind:
        case "a directory":
            file.mkdir()
        case "no TOML":
            file.write_text("data_dir: /tmp\n")
        case "binary":
            file.write_bytes(bytes(range(256)))
        case "forbidden":
            file.touch(mode=0o000)
    said = refused(
        ExitCode.SETTINGS, "--data-dir", home / "data", "--config", file, person=ordinary
    )
    assert f"settings file {file}: " in said


def test_a_taken_port_is_named(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        said = refused(ExitCode.ADDRESS_IN_USE, "--data-dir", data, "--console", where)
    assert f"cannot listen on {where}: Address already in use" in said


def test_a_directory_too_deep_for_a_socket_is_named(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    said = refused(ExitCode.ADDRESS_IN_USE, "--data-dir", deep)
    assert str(deep) in said
    assert "107" in said


def test_a_second_instance_names_the_first(tmp_path: Path) -> None:
    with standing(tmp_path) as first:
        said = refused(ExitCode.ALREADY_RUNNING, "--data-dir", first.data_dir)
        assert f"process {first.process.pid}" in said
        assert str(first.data_dir) in said
        assert first.ready("brain")
        assert len(first.another_link()) > 0


def test_a_data_directory_that_is_a_file(data: Path) -> None:
    data.touch()
    assert str(data) in refused(ExitCode.DATA_DIRECTORY, "--data-dir", data)


@needs_root
def test_a_data_directory_of_somebody_else(open_folder: Path, ordinary: Person) -> None:
    theirs = open_folder / "theirs"
    theirs.mkdir(mode=0o700)
    for directory in (theirs, theirs / "below", open_folder / "new"):
        said = refused(ExitCode.DATA_DIRECTORY, "--data-dir", directory, person=ordinary)
        assert str(directory) in said
    theirs.chmod(0o777)
    said = refused(ExitCode.DATA_DIRECTORY, "--data-dir", theirs, person=ordinary)
    assert "belongs to user 0" in said


@needs_root
def test_a_file_in_the_data_directory_that_is_somebody_elses(
    open_folder: Path, ordinary: Person
) -> None:
    data = open_folder / "data"
    data.mkdir(mode=0o700)
    (data / "nemutator.db").touch(mode=0o600)
    os.chown(data, NOBODY, NOBODY)
    said = refused(ExitCode.DATA_DIRECTORY, "--data-dir", data, person=ordinary)
    assert str(data / "nemutator.db") in said


@needs_root
def test_a_read_only_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m", "ro") as disk:
        said = refused(ExitCode.DATA_DIRECTORY, "--data-dir", disk)
        assert f"{disk}: Read-only file system" in said


@needs_root
@pytest.mark.parametrize(
    ("left", "code"), [(0, ExitCode.NO_SPACE), (40 << 10, ExitCode.DATA_DIRECTORY)]
)
def test_a_full_disk(tmp_path: Path, left: int, code: ExitCode) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        fill(disk, leave=left)
        said = refused(code, "--data-dir", disk / "data")
        assert str(disk / "data") in said
        assert "space" in said


def test_a_database_of_a_later_version(data: Path) -> None:
    data.mkdir()
    with contextlib.closing(sqlite3.connect(data / "nemutator.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
        database.commit()
    before = (data / "nemutator.db").read_bytes()
    said = refused(ExitCode.DATABASE, "--data-dir", data)
    assert str(data / "nemutator.db") in said
    assert (data / "nemutator.db").read_bytes() == before


def test_what_is_no_database(data: Path) -> None:
    data.mkdir()
    path = data / "nemutator.db"
    path.write_bytes(bytes(range(256)) * 64)
    assert str(path) in refused(ExitCode.DATABASE, "--data-dir", data)


DIES = """\
import os, signal, sys
if "{role}" in sys.orig_argv:
    os.kill(os.getpid(), signal.SIG{signal})
"""


@pytest.mark.parametrize(("role", "by"), [("brain", "SEGV"), ("observe", "KILL")])
def test_a_child_that_always_dies_at_its_start_is_named(
    data: Path, tmp_path: Path, role: str, by: str
) -> None:
    # Python runs this file at the start of every process of ours that has it in its path.
    (tmp_path / "sitecustomize.py").write_text(DIES.format(role=role, signal=by))
    person = Person(environment={"PYTHONPATH": str(tmp_path)})
    said = refused(ExitCode.CHILD_DIED, "--data-dir", data, person=person)
    assert f"{role} died 5 times in a row, the last time with SIG{by}" in said
