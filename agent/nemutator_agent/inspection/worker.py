"""The worker: `python -I -m nemutator_agent.inspection.worker FD`, started by `worker_process.py`.

For each message on the socket FD, which carries one open file and nothing else, it answers one
line. It opens nothing itself: what it may read, it is handed.
"""

import functools
import os
import socket
import sys

from nemutator_agent.inspection.confinement import confine
from nemutator_agent.inspection.examination import examine
from nemutator_agent.inspection.verdicts import encode


def serve(connection: socket.socket) -> None:
    """Answer until the other end closes."""
    while True:
        message, files, _, _ = socket.recv_fds(connection, 1, 1)
        if not message:
            return
        (file,) = files
        try:
            verdict = examine(functools.partial(_read, file))
        finally:
            os.close(file)
        connection.send(encode(verdict))


def _read(file: int, offset: int, size: int) -> bytes:
    try:
        return os.pread(file, size, offset)
    except OSError:
        # A failing disk, or a file system with limits of its own: as if the file ended here.
        return b""


def main() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        confine()
        serve(connection)


if __name__ == "__main__":
    main()
