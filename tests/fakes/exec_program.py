"""nemutator-exec as a process of this machine, and agents that answer it with bytes of a test's choice."""

import contextlib
import os
import platform
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

PATIENCE_S = 60.0

PROGRAMS = Path(str(resources.files("nemutator_init"))) / "programs"
PROGRAM = PROGRAMS / f"nemutator-exec.{platform.machine()}"

SHOW = ("/bin/sh", "-c", 'printf %s "$TOKEN"')


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    printed: bytes
    reported: str


def options(agent: Path, *, wait_s: int = 30) -> list[str]:
    return ["--socket", str(agent), "--wait", f"{wait_s}s"]


def run(
    words: Sequence[str], *, environment: Mapping[str, str] | None = None, program: Path = PROGRAM
) -> Ran:
    done = subprocess.run(
        [program, *words],
        env=None if environment is None else dict(environment),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def http(status: int, body: bytes, *more: str) -> bytes:
    head = [f"HTTP/1.1 {status} Words", f"Content-Length: {len(body)}", *more]
    return "\r\n".join([*head, "", ""]).encode() + body


@contextlib.contextmanager
def agent(folder: Path, answer: Callable[[socket.socket], None]) -> Iterator[Path]:
    """The socket on which each connection is given to *answer*, one after the other."""
    path = folder / "agent.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(folder):
        listening.bind("agent.sock")  # a path of pytest's may be longer than an address can be
        listening.listen(16)
        ended = threading.Event()
        thread = threading.Thread(target=_serve, args=(listening, answer, ended), daemon=True)
        thread.start()
        try:
            yield Path(os.path.relpath(path))
        finally:
            ended.set()
            with socket.socket(socket.AF_UNIX) as last:
                last.connect("agent.sock")
            thread.join(PATIENCE_S)


def _serve(
    listening: socket.socket, answer: Callable[[socket.socket], None], ended: threading.Event
) -> None:
    while True:
        connection, _ = listening.accept()
        with connection:
            if ended.is_set():
                return
            connection.settimeout(PATIENCE_S)
            # Who has understood enough closes without reading the rest.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                answer(connection)


def saying(*parts: bytes) -> Callable[[socket.socket], None]:
    """Reads the question, answers with *parts*, and closes."""

    def answer(connection: socket.socket) -> None:
        connection.recv(4096)
        for part in parts:
            connection.sendall(part)

    return answer
