"""Sockets that killed processes leave behind, with real processes and real files."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from nemutator_common.addresses import UnixAddress
from nemutator_common.serving.sockets import ListeningSocket, remove_left

LISTENS = """
import socket, sys, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
print("listens", flush=True)
time.sleep(3600)
"""


def killed_listener(path: Path) -> int:
    """The pid of a process that has listened at *path*."""
    with subprocess.Popen([sys.executable, "-c", LISTENS, path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listens\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    return process.pid


def test_the_socket_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "observe.sock"
    killed_listener(left)
    assert left.is_socket()
    remove_left(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_on_which_somebody_listens_stays(tmp_path: Path) -> None:
    path = tmp_path / "observe.sock"
    listening = ListeningSocket(UnixAddress(path), mode=0o600)
    remove_left(tmp_path, ended={None, 1})
    assert path.is_socket()
    # A process that was killed may be on its way out still.
    remove_left(tmp_path, ended={os.getpid()})
    assert not path.exists()
    listening.close()


def test_nothing_but_sockets_is_touched(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    killed_listener(elsewhere / "its.sock")
    (tmp_path / "linked.sock").symlink_to(elsewhere / "its.sock")
    (tmp_path / "named.sock").write_text("no socket")
    before = sorted(tmp_path.iterdir())
    remove_left(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert (elsewhere / "its.sock").is_socket()


def test_a_full_queue_is_no_sign_of_death(tmp_path: Path) -> None:
    path = tmp_path / "busy.sock"
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as waiting:
        listening.bind(os.fspath(path))
        listening.listen(0)
        waiting.connect(os.fspath(path))
        remove_left(tmp_path, ended={os.getpid()})
    assert path.is_socket()


@pytest.mark.parametrize("name", ["gone", "file"])
def test_where_there_is_no_directory_nothing_is_done(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    remove_left(tmp_path / name)
