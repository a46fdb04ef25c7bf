"""Processes that connect to a socket and then follow orders, or end."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CONNECTS_S = 240.0
"""An interpreter has to start first, which takes an emulated CPU beside other work many seconds."""

_CALLER = """
import ctypes, os, socket, sys, threading
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
print("connected", flush=True)
for order in sys.stdin:
    if order == "heir\\n":
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, b"%d" % os.getpid())
            connection.recv(1)
            os._exit(0)
        print(os.read(reader, 20).decode(), flush=True)
    elif order == "leave\\n":
        os._exit(0)
    elif order == "retire\\n":
        threading.Thread(target=lambda: sys.stdin.readline() and os._exit(0)).start()
        ctypes.CDLL(None).pthread_exit(None)
    elif order == "become\\n":
        os.symlink("/bin/sleep", "x) S 1 2 (")
        os.execv("x) S 1 2 (", ["sleep", "60"])
"""


@dataclass(frozen=True, slots=True)
class Caller:
    process: subprocess.Popen[str]
    connection: socket.socket
    """Our end."""

    def order(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        """Ends and is waited for: its number is free."""
        self.order("leave")
        self.process.wait(timeout=60)


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[tuple[socket.socket, Path]]:
    with socket.socket(socket.AF_UNIX) as listener:
        # A path of pytest's may be longer than an address can be.
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            listener.bind(f"/proc/self/fd/{fd}/door")
        finally:
            os.close(fd)
        listener.listen()
        listener.settimeout(CONNECTS_S)
        yield listener, folder / "door"


@contextlib.contextmanager
def calling(folder: Path, *, program: str = sys.executable) -> Iterator[Caller]:
    """One that is connected."""
    with listening(folder) as (listener, _):
        process = subprocess.Popen(
            [program, "-c", _CALLER, "door"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            connection, _ = listener.accept()
            with connection:
                caller = Caller(process, connection)
                assert caller.answer() == "connected"
                yield caller
        finally:
            process.kill()
            with process:
                process.wait(timeout=60)
