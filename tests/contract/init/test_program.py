"""`python -m nemutator_init` as a pod's init container, with an agent on a real socket."""

import contextlib
import errno
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import pytest
from nemutator_init import exec_program, secret_files
from nemutator_init.__main__ import remedy_of

PROGRAM = [sys.executable, "-m", "nemutator_init"]
VALUE = b"correct horse\nbattery"


class Agent(BaseHTTPRequestHandler):
    secrets: dict[str, bytes]
    refusal: tuple[int, dict[str, str]] | None
    volume: Path

    def do_GET(self) -> None:
        if self.path == "/v1/files" and self.refusal is None:
            # It would write them into the pod's volume.
            secret_files.write(self.volume / "secrets", self.secrets, mode=0o444)
            self._say(200, json.dumps({"files": list(self.secrets)}).encode())
            return
        name = self.path.removeprefix("/v1/secret/").removesuffix("?raw=1")
        if self.path == "/v1/declared":
            self._say(200, json.dumps({"secrets": list(self.secrets)}).encode())
        elif self.refusal is not None:
            self._say(self.refusal[0], json.dumps(self.refusal[1]).encode())
        else:
            self._say(200, self.secrets[name])

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "a pod"

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def agent(
    folder: Path, secrets: dict[str, bytes], refusal: tuple[int, dict[str, str]] | None = None
) -> Iterator[None]:
    handler = type("Handler", (Agent,), {"secrets": secrets, "refusal": refusal, "volume": folder})
    with contextlib.chdir(folder):  # a path of pytest's may be longer than an address can be
        Path("agent.sock").unlink(missing_ok=True)
        server = ThreadingUnixStreamServer("agent.sock", handler)
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*PROGRAM, "--directory", ".", "--wait", "0s", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def found(folder: Path) -> dict[str, bytes]:
    """What an application sees that reads by name."""
    files = (path for path in (folder / "secrets").iterdir() if not path.name.startswith(".."))
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.slow
def test_files_are_there_and_no_value_is_printed(tmp_path: Path) -> None:
    with agent(tmp_path, {"db": VALUE, "tls.key": b"\0\xff"}):
        code, printed = run(tmp_path)
    assert (code, printed) == (0, "nemutator-init: 2 secrets are in secrets: db, tls.key\n")
    assert found(tmp_path) == {"db": VALUE, "tls.key": b"\0\xff"}
    assert (tmp_path / "secrets/db").stat().st_mode & 0o777 == 0o444


@pytest.mark.slow
def test_a_restart_replaces_all_of_them(tmp_path: Path) -> None:
    with agent(tmp_path, {"db": VALUE, "old": b"x"}):
        run(tmp_path)
    with agent(tmp_path, {"db": b"new", "fresh": b"y"}):
        code, _ = run(tmp_path, "--mode", "0400")
    assert code == 0
    assert found(tmp_path) == {"db": b"new", "fresh": b"y"}
    assert (tmp_path / "secrets/db").stat().st_mode & 0o777 == 0o400
    generations = [path for path in (tmp_path / "secrets").iterdir() if not path.is_symlink()]
    assert len(generations) == 1


@pytest.mark.slow
def test_a_refusal_leaves_what_was_there_and_says_what_to_do(tmp_path: Path) -> None:
    with agent(tmp_path, {"db": VALUE}):
        run(tmp_path)
    words = {"error": "no role shop.web", "remedy": "make the role", "step": "login"}
    with agent(tmp_path, {"db": b"new"}, (403, words)):
        code, printed = run(tmp_path)
    assert code == 1
    said = "no role shop.web (step: login); remedy: make the role\n"
    assert printed == f"nemutator-init: the pod's files: {said}"
    assert found(tmp_path) == {"db": VALUE}
    with agent(tmp_path, {"db": b"new"}, (403, words)):
        assert run(tmp_path, "--mode", "0400") == (1, f"nemutator-init: secret 'db': {said}")


@pytest.mark.slow
def test_files_that_came_into_another_volume_are_missed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with agent(other, {"db": VALUE}):
        (tmp_path / "agent.sock").symlink_to("other/agent.sock")
        code, printed = run(tmp_path)
    assert code == 1
    assert "secrets/db: No such file or directory; remedy: mount the volume of driver" in printed


@pytest.mark.slow
def test_without_an_agent_it_gives_up_with_a_remedy(tmp_path: Path) -> None:
    code, printed = run(tmp_path)
    assert code == 1
    assert "No such file or directory (agent.sock); remedy: the agent's DaemonSet" in printed
    assert not (tmp_path / "secrets").exists()


@pytest.mark.slow
def test_without_its_volume_it_does_not_wait_for_an_agent(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "--directory", "nowhere", "--wait", "60s")
    assert code == 1
    assert printed.startswith(
        "nemutator-init: there is no nowhere; remedy: mount the volume of driver"
    )
    assert printed.count("\n") == 1


@pytest.mark.slow
def test_it_ends_when_its_pod_does(tmp_path: Path) -> None:
    """By a handler of its own: a container's first process gets no signal that it does not handle."""
    waiting = subprocess.Popen(
        [*PROGRAM, "--directory", ".", "--wait", "60s"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    with waiting:
        assert waiting.stderr is not None
        assert "waiting: no answer from the agent" in waiting.stderr.readline()
        waiting.terminate()
        assert waiting.wait(timeout=60) == 128 + 15
        assert waiting.stderr.read() == ""


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "declare fewer secrets"),
        (errno.EACCES, "run as one user"),
        (errno.EROFS, "not read-only"),
    ],
)
def test_a_volume_that_cannot_be_written_is_said_with_what_helps(number: int, remedy: str) -> None:
    assert remedy in remedy_of(OSError(number, os.strerror(number)))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--wait", "soon"], ["--mode", "0777"], ["--mode", "4755"]])
def test_a_wrong_word_is_named(tmp_path: Path, arguments: list[str]) -> None:
    code, printed = run(tmp_path, *arguments)
    assert code == 2
    assert "expected" in printed


def test_what_cannot_be_written_whole_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    secret_files.write(folder, {"db": b"old"}, mode=0o444)
    with pytest.raises(OSError, match="a/b"):
        secret_files.write(folder, {"db": b"new", "a/b": b"x"}, mode=0o444)
    assert found(tmp_path) == {"db": b"old"}
    assert len(list(folder.iterdir())) == 3


def test_what_lies_in_a_files_place_is_replaced_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    (tmp_path / "victim").write_bytes(b"theirs")
    (folder / "db").symlink_to(tmp_path / "victim")
    (folder / "own").write_bytes(b"the application's")
    secret_files.write(folder, {"db": b"new"}, mode=0o444)
    assert found(tmp_path) == {"db": b"new", "own": b"the application's"}
    assert (tmp_path / "victim").read_bytes() == b"theirs"


@pytest.mark.slow
def test_the_program_that_starts_containers_is_there_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "exec"
    folder.mkdir()
    for _ in range(2):  # a container that is made again finds the one of before
        code, _ = run(tmp_path, "--exec-to", "exec")
        assert code == 1  # there is no agent
        assert [path.name for path in folder.iterdir()] == ["nemutator-exec"]
        assert stat.S_IMODE((folder / "nemutator-exec").stat().st_mode) == 0o555
    started = subprocess.run([folder / "nemutator-exec"], capture_output=True, check=False)
    assert b"no command is given" in started.stderr


@pytest.mark.slow
def test_without_room_for_the_program_it_says_what_to_do(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "--exec-to", "nowhere")
    assert code == 1
    assert "No such file or directory; remedy: mount a volume of 64 KiB there" in printed


def test_a_machine_without_a_program_is_told_apart_from_a_full_volume(tmp_path: Path) -> None:
    with pytest.raises(exec_program.ProgramMissingError):
        exec_program.deliver(tmp_path, "riscv64")
    assert list(tmp_path.iterdir()) == []
