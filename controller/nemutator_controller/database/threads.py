"""Threads that take jobs from one bounded queue, for a library that blocks."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class JobThreads:
    """Runs jobs in the order of their submission, on *count* threads; at most *length* wait."""

    def __init__(self, name: str, *, count: int, length: int) -> None:
        self._jobs: queue.Queue[tuple[list[Callable[[], Any]], Future[Any]] | None] = queue.Queue(
            length
        )
        # They are daemons, because a disk that hangs may not prevent the process from ending.
        self._threads = [
            threading.Thread(target=self._work, name=f"{name} {number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def waiting(self) -> int:
        return self._jobs.qsize()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """The future result; raises `queue.Full`. Cancelling it before its turn skips the job, and lets go of its data."""
        box, future = [job], Future[T]()
        self._jobs.put_nowait((box, future))
        # The thread may hang at the job before it for as long as the server does.
        future.add_done_callback(lambda _: box.clear())
        return future

    def close(self, deadline_s: float) -> None:
        """Let what was submitted finish, for at most *deadline_s* for each thread."""
        for _ in self._threads:
            try:
                self._jobs.put(None, timeout=deadline_s)
            except queue.Full:
                return
        for thread in self._threads:
            thread.join(deadline_s)

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            _run(*item)
            # Waiting for the next job must not keep this one's data alive.
            del item


def _run(box: list[Callable[[], Any]], future: Future[Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = box[0]()
    except BaseException as error:  # noqa: BLE001 - the waiting caller gets it
        future.set_exception(error)
    else:
        future.set_result(result)
