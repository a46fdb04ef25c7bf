"""`nemutator up` as somebody who is not root: it works, and names what it cannot see."""

import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.standing import COMMAND, ME, NOBODY, Person, standing
from tests.house.tree import REPOSITORY

SOURCES = ("agent", "common", "controller")

# Half a gigabyte of tools that only maintainers need.
LARGE = shutil.ignore_patterns(
    "playwright", "mypy*", "ruff*", "kubernetes", "clang_format", "hypothesis", "__pycache__"
)


@pytest.fixture
def home() -> Iterator[Path]:
    """Of somebody else: pytest's own directories are for their owner alone."""
    with tempfile.TemporaryDirectory(prefix="nemutator-e2e-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield folder


@pytest.fixture
def person(home: Path) -> Person:
    """An ordinary user: this one, or nobody when this one is root."""
    if os.geteuid() != 0:
        return ME
    environment = {"HOME": str(home), "USER": "nobody", "LOGNAME": "nobody"}
    installed = Person(uid=NOBODY, environment=environment)
    try:
        if installed.run("version").code == 0:
            return installed
    except PermissionError:
        # Not even the interpreter: this checkout lies in somebody's private directory.
        pass
    copy = home / "copy"
    for source in SOURCES:
        shutil.copytree(REPOSITORY / source, copy / source, ignore=LARGE)
    shutil.copytree(sysconfig.get_path("purelib"), copy / "libraries", ignore=LARGE)
    path = ":".join(str(copy / name) for name in (*SOURCES, "libraries"))
    return Person(
        command=(os.path.realpath(sys.executable), *COMMAND[1:]),
        uid=NOBODY,
        environment=environment | {"PYTHONPATH": path},
    )


def test_an_ordinary_user_gets_a_product_that_says_what_it_cannot_see(
    home: Path, person: Person
) -> None:
    with standing(home, "--privileges", "never", person=person) as up:
        uid = os.geteuid() if person.uid is None else person.uid
        for pid in up.family():
            assert Path(f"/proc/{pid}").stat().st_uid == uid
        said = up.said()
        assert "as an ordinary user: privileges=never" in said
        (node,) = up.api("/api/v1/topology").document["nodes"]
        assert node["processes"]
        if os.geteuid() == 0:
            # There are processes of another user, root, whose executables it may not read.
            assert node["missing"]
        for fact in node["missing"]:
            assert fact["why"]
            assert fact["remedy"]
            assert fact["what"][:60] in said
        table = up.run("topology")
        assert table.code == 0, table.stderr
        assert "NAME" in table.stdout
        assert up.another_link()
        assert "Traceback" not in said


def test_without_a_terminal_nobody_is_asked_and_nothing_is_raised(
    home: Path, person: Person
) -> None:
    with standing(home, person=person) as up:
        assert "as an ordinary user: there is no " in up.said()
        assert "[y/N]" not in up.said()
