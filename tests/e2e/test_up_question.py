"""The one question that `nemutator up` asks, of an ordinary user at a terminal."""

import contextlib
import os
import re
import signal
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.e2e.standing import LINK, START_S, STOP_S, Person
from tests.processes import alive, children
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

QUESTION = "[y/N]"


@pytest.fixture
def with_sudo(ordinary: Person, open_folder: Path) -> Person:
    """The ordinary user of a machine whose sudo refuses."""
    sudo = open_folder / "sudo"
    sudo.write_text("#!/bin/sh\nexit 1\n")
    sudo.chmod(0o755)
    path = {"PATH": f"{open_folder}:/usr/bin:/bin"}
    return replace(ordinary, environment={**(ordinary.environment or {}), **path})


@dataclass
class Terminal:
    fd: int
    pid: int
    said: str = ""

    def shows(self, what: str) -> bool:
        with contextlib.suppress(BlockingIOError, OSError):
            self.said += os.read(self.fd, 65536).decode(errors="replace")
        return re.search(what, self.said) is not None

    def wait_for(self, what: str) -> None:
        until(lambda: self.shows(what), f"{what!r} on the terminal", within_s=START_S)


@pytest.fixture
def terminal(with_sudo: Person, home: Path) -> Iterator[Terminal]:
    ours, theirs = os.openpty()
    os.set_blocking(ours, False)
    if with_sudo.uid is not None:
        os.fchown(theirs, with_sudo.uid, -1)
    process = with_sudo.start(
        "up", "--data-dir", home / "data", "--console", f"127.0.0.1:{free_port()}",
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(ours, process.pid)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=STOP_S) == 0
        os.close(ours)


def sockets(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if stat.S_ISSOCK(path.lstat().st_mode)]


def test_the_question_is_asked_first_and_alone(terminal: Terminal, home: Path) -> None:
    terminal.wait_for(re.escape(QUESTION))
    assert "needed for flame graphs" in terminal.said
    assert terminal.said.rstrip().endswith(QUESTION), "nothing is written over it"
    assert sockets(home) == [], "nothing runs yet that could write there"
    assert not alive(children(terminal.pid))


@pytest.mark.parametrize(
    ("typed", "why"),
    [("n\n", "it was not wanted"), ("y\n", "sudo refused"), ("\x04", "it was not wanted")],
)
def test_the_link_is_printed_whatever_the_answer_is(
    terminal: Terminal, typed: str, why: str
) -> None:
    terminal.wait_for(re.escape(QUESTION))
    os.write(terminal.fd, typed.encode())
    terminal.wait_for(LINK.pattern)
    # A slow machine has the link first.
    terminal.wait_for(re.escape(f"as an ordinary user: {why}"))


def test_ctrl_c_is_an_answer_too(terminal: Terminal) -> None:
    terminal.wait_for(re.escape(QUESTION))
    # That it ends well is what the fixture proves.
