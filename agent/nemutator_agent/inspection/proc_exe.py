"""`/proc/PID/exe`: the one name of an executable that its process cannot forge."""

import asyncio
import concurrent.futures
import contextlib
import os
import queue
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from nemutator_agent.inspection.executables import DeniedError, Gone, Program, StuckError
from nemutator_agent.inspection.identities import FileId, ProcessId

_Job = tuple[ProcessId, "concurrent.futures.Future[Program]"]


class ProcExecutables:
    """Opens in a thread: a file on a dead network file system would hold up everything else.

    The thread is a daemon, so that it does not hold up the end of the process either; while it is
    stuck, nothing more is asked of it.
    """

    def __init__(
        self,
        started_ticks: Callable[[int], int | None],
        *,
        root: Path = Path("/"),
        open_s: float = 2.0,
    ) -> None:
        self._started_ticks = started_ticks
        self._proc = root / "proc"
        self._open_s = open_s
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._stuck: concurrent.futures.Future[Program] | None = None
        threading.Thread(target=self._serve, name="open executables", daemon=True).start()

    async def open(self, process: ProcessId) -> Program:
        if self._stuck is not None and not self._stuck.done():
            raise StuckError
        self._stuck = None
        job: concurrent.futures.Future[Program] = concurrent.futures.Future()
        self._jobs.put((process, job))
        try:
            async with asyncio.timeout(self._open_s):
                return await asyncio.shield(asyncio.wrap_future(job))
        except TimeoutError:
            self._stuck = job
            raise StuckError from None
        finally:
            if not job.done():
                job.add_done_callback(_closed)

    def close(self, program: Program) -> None:
        if program.file is not None:
            os.close(program.file)

    def _serve(self) -> None:
        while True:
            process, job = self._jobs.get()
            try:
                job.set_result(self._open(process))
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                job.set_exception(error)

    def _open(self, process: ProcessId) -> Program:
        link = self._proc / str(process.pid) / "exe"
        file = None
        try:
            name = os.fsdecode(os.readlink(os.fsencode(link)))
            # Not blocking: it could be a pipe by now, if the link were to somebody's file.
            file = os.open(link, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
            status = os.fstat(file)
            # The same process before (it asked) and after: then it was that one in between, too.
            if self._started_ticks(process.pid) != process.started_ticks:
                raise Gone
        except PermissionError:
            raise DeniedError from None
        except OSError:
            raise Gone from None
        else:
            if not stat.S_ISREG(status.st_mode):
                return Program(name, None, None)
            identity = FileId(status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
            program, file = Program(name, file, identity), None
            return program
        finally:
            if file is not None:
                os.close(file)


def _closed(job: "concurrent.futures.Future[Program]") -> None:
    """Nobody waits for it any more."""
    with contextlib.suppress(BaseException):
        file = job.result().file
        if file is not None:
            os.close(file)
