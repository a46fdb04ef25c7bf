"""The symbol worker: `python -I -m nemutator_agent.profiler.symbols.worker FD`.

For each question on the socket FD, which carries one open file, it answers what `examining` says. It
opens nothing itself: what it may read, it is handed. The files that it was asked about last stay
open, for the next question about them.
"""

import functools
import os
import socket
import sys
from collections import OrderedDict

from nemutator_agent.inspection.confined_process import FULL
from nemutator_agent.inspection.confinement import confine
from nemutator_agent.profiler.symbols import lookup
from nemutator_agent.profiler.symbols.messages import (
    LARGEST_QUESTION,
    decode_question,
    encode_answer,
)

MOST_FILES = 4

_Key = tuple[int, int, int, int]


class ExaminedFiles:
    """Executables by what they were when they were handed over."""

    def __init__(self) -> None:
        self._cache: OrderedDict[_Key, tuple[int, lookup.Executable]] = OrderedDict()

    def get(self, file: int) -> lookup.Executable:
        """Takes *file* over."""
        status = os.fstat(file)
        key = (status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
        if key in self._cache:
            os.close(file)
            self._cache.move_to_end(key)
        else:
            if len(self._cache) >= MOST_FILES:
                _, (oldest, _) = self._cache.popitem(last=False)
                os.close(oldest)
            self._cache[key] = (file, lookup.Executable(functools.partial(_read, file)))
        return self._cache[key][1]


def serve(connection: socket.socket) -> None:
    """Answer until the other end closes."""
    files = ExaminedFiles()
    while True:
        message, handed, _, _ = socket.recv_fds(connection, LARGEST_QUESTION, 1)
        if not message:
            return
        (file,) = handed
        question = decode_question(message)
        if question.kernel:
            answer = lookup.kernel(functools.partial(_read, file), question)
            os.close(file)
        else:
            answer = files.get(file).answer(question)
        _send(connection, encode_answer(answer))


def _send(connection: socket.socket, answer: bytes) -> None:
    """In full messages and one that is not: a space more does not harm JSON."""
    if len(answer) % FULL == 0:
        answer += b" "
    for start in range(0, len(answer), FULL):
        connection.send(answer[start : start + FULL])


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
