"""`/proc/PID/exe`: the one name of an executable that its process cannot forge."""

import functools
import os
import stat
from collections.abc import Callable
from pathlib import Path

from nemutator_agent.inspection.executables import Program
from nemutator_agent.inspection.failures import (
    HiddenFileError,
    ProcessGoneError,
)
from nemutator_agent.inspection.identities import FileId, ProcessId
from nemutator_agent.inspection.opening_thread import OpeningThread

MOST_BYTES = 4096
"""The most that is read of a command line: what an interpreter runs stands at the beginning."""


class ProcExecutables:
    """Opens in a thread of its own, with a deadline."""

    def __init__(
        self,
        started_ticks: Callable[[int], int | None],
        *,
        root: Path = Path("/"),
        open_s: float = 20.0,
    ) -> None:
        self._started_ticks = started_ticks
        self._proc = root / "proc"
        self._thread = OpeningThread(deadline_s=open_s, close=self.close)
        # A process's memory may hold up a reader of its words, but nobody who opens its file.
        self._reading = OpeningThread[tuple[bytes, ...]](
            deadline_s=open_s, close=lambda words: None
        )

    async def open(self, process: ProcessId) -> Program:
        return await self._thread.do(functools.partial(self._open, process))

    def close(self, program: Program) -> None:
        if program.file is not None:
            os.close(program.file)

    async def command_line(self, process: ProcessId) -> tuple[bytes, ...]:
        return await self._reading.do(functools.partial(self._words, process))

    def _words(self, process: ProcessId) -> tuple[bytes, ...]:
        try:
            with (self._proc / str(process.pid) / "cmdline").open("rb", buffering=0) as file:
                content = file.read(MOST_BYTES)
        except OSError:
            raise ProcessGoneError from None
        if self._started_ticks(process.pid) != process.started_ticks:
            raise ProcessGoneError
        whole = len(content) < MOST_BYTES
        # Each word ends in a zero. The last word of a long line may have been cut.
        return tuple(content.split(b"\0")[: None if whole else -1])

    def _open(self, process: ProcessId) -> Program:
        link = self._proc / str(process.pid) / "exe"
        file = None
        try:
            name = os.readlink(link)
            # Not blocking: the file behind the link could be a pipe.
            file = os.open(link, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
            status = os.fstat(file)
            # It was the same process before and is now, so it was in between, too.
            if self._started_ticks(process.pid) != process.started_ticks:
                raise ProcessGoneError
        except PermissionError:
            raise HiddenFileError from None
        except OSError:
            raise ProcessGoneError from None
        else:
            if not stat.S_ISREG(status.st_mode):
                return Program(name, None, None)
            identity = FileId(status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
            program, file = Program(name, file, identity), None
            return program
        finally:
            if file is not None:
                os.close(file)
