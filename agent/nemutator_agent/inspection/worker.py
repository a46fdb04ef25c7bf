"""The process that parses what strangers wrote: `python -I -m …inspection.worker MODULE FD`.

`confined_worker.py` starts it. Each message on the socket FD is a question with one open file; what
`MODULE.responder()` makes of the two is sent back. It opens nothing itself: it reads what it is given.
"""

import importlib
import os
import socket
import sys
from collections.abc import Callable

from nemutator_agent.inspection.confinement import confine

FULL = 64 << 10
"""Bytes of a message that another one follows. Two of them fit in what a socket holds by default."""

Respond = Callable[[bytes, int], bytes]
"""Makes an answer of JSON from a question and the file that came with it, which it closes."""


def serve(connection: socket.socket, respond: Respond) -> None:
    """Answer until the other end closes."""
    while True:
        question, files, _, _ = socket.recv_fds(connection, FULL, 1)
        if not question:
            return
        (file,) = files
        answer = respond(question, file)
        if len(answer) % FULL == 0:
            # The last message must not be a full one, and a space more does not harm JSON.
            answer += b" "
        for start in range(0, len(answer), FULL):
            connection.send(answer[start : start + FULL])


def read_at(file: int, offset: int, size: int) -> bytes:
    try:
        return os.pread(file, size, offset)
    except OSError:
        # A failing disk, or a file system with limits of its own: as if the file ended here.
        return b""


def main() -> None:
    respond: Respond = importlib.import_module(sys.argv[1]).responder()
    with socket.socket(fileno=int(sys.argv[2])) as connection:
        confine()
        serve(connection, respond)


if __name__ == "__main__":
    main()
