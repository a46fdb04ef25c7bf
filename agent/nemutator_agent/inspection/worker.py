"""The process that parses what strangers wrote: `python -I -m …inspection.worker MODULE FD`.

`confined_worker.py` starts it. Each message on the socket FD is a question with one open file, which
`MODULE.responder()` answers. The process opens nothing itself: it reads the files that it is given.
"""

import importlib
import os
import socket
import sys
from collections.abc import Callable

from nemutator_agent.inspection.confinement import confine

FULL = 64 << 10
"""The bytes of a message that another one follows. A socket holds two of them by default."""

UNCONFINED = 77
"""The exit code of a worker that could not give up its rights, and has parsed nothing."""

Respond = Callable[[bytes, int], bytes]
"""Makes a JSON answer to a question about the file that came with it, and closes the file."""


def serve(connection: socket.socket, respond: Respond) -> None:
    """Answer until the other end closes."""
    while True:
        question, files, _, _ = socket.recv_fds(connection, FULL, 1)
        if not question:
            return
        (file,) = files
        answer = respond(question, file)
        if len(answer) % FULL == 0:
            # The last message may not be a full one, and a blank does JSON no harm.
            answer += b" "
        for start in range(0, len(answer), FULL):
            connection.send(answer[start : start + FULL])


def read_at(file: int, offset: int, size: int) -> bytes:
    try:
        return os.pread(file, size, offset)
    except OSError:
        # The disk fails, or its file system has limits: as if the file ended here.
        return b""


def main() -> None:
    respond: Respond = importlib.import_module(sys.argv[1]).responder()
    with socket.socket(fileno=int(sys.argv[2])) as connection:
        try:
            confine()
        except OSError:
            os._exit(UNCONFINED)  # At once: the parent ends whoever has closed the connection.
        serve(connection, respond)


if __name__ == "__main__":
    main()
