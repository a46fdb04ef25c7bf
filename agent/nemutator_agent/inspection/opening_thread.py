"""Opens files with a deadline: one on a dead network file system would hold up all others."""

import asyncio
import concurrent.futures
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from nemutator_agent.inspection.failures import FileSystemStuckError

Opened = TypeVar("Opened")

_Job = tuple[Callable[[], Opened], "concurrent.futures.Future[Opened]"]


class OpeningThread(Generic[Opened]):
    """One job at a time, in a thread of its own.

    The thread is a daemon, so that it cannot hold up the end of the process. While it is stuck, it
    gets no further jobs.
    """

    def __init__(self, *, deadline_s: float, close: Callable[[Opened], None]) -> None:
        """*close* gets what was opened too late, when nobody waited for it any more."""
        self._deadline_s = deadline_s
        self._close = close
        self._jobs: queue.SimpleQueue[_Job[Opened]] = queue.SimpleQueue()
        self._stuck: concurrent.futures.Future[Opened] | None = None
        threading.Thread(target=self._serve, name="open files", daemon=True).start()

    async def do(self, work: Callable[[], Opened]) -> Opened:
        """What *work* returns or raises. Raises FileSystemStuckError."""
        if self._stuck is not None and not self._stuck.done():
            raise FileSystemStuckError
        self._stuck = None
        job: concurrent.futures.Future[Opened] = concurrent.futures.Future()
        self._jobs.put((work, job))
        try:
            async with asyncio.timeout(self._deadline_s):
                return await asyncio.shield(asyncio.wrap_future(job))
        except TimeoutError:
            self._stuck = job
            raise FileSystemStuckError from None
        finally:
            if not job.done():
                job.add_done_callback(self._closed)

    def _serve(self) -> None:
        while True:
            work, job = self._jobs.get()
            try:
                job.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                job.set_exception(error)

    def _closed(self, job: "concurrent.futures.Future[Opened]") -> None:
        """Close what *job* brings too late."""
        with contextlib.suppress(BaseException):
            self._close(job.result())
