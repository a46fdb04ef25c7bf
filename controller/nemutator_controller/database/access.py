"""How the brain's coroutines use the database: each job is one transaction and has a deadline."""

import asyncio
import contextlib
import logging
import queue
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from nemutator_common import names
from nemutator_common.process import Process
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError

from nemutator_controller.database.engines import Engines
from nemutator_controller.database.failures import (
    Reason,
    StoreUnavailableError,
    ValueRefusedError,
)
from nemutator_controller.database.threads import JobThreads

log = logging.getLogger(__name__)

T = TypeVar("T")
Job = Callable[[Connection], T]

LONGEST_QUEUE = 64
"""The most jobs that wait for a thread. Each may hold a batch of reports, so it bounds memory."""

JOB_S = 5.0
CLOSE_S = 0.5

READINESS = "database"

_OF_SOME: frozenset[Reason] = frozenset({"busy", "deadline"})
"""What may be so of one table, while others are written."""

RECALLED_S = 20.0
"""For so long a kind of job counts as failing that nobody tries again."""


class Database:
    """One thread makes all writes, in order; reads see the last commit and never wait for a write.

    When the disk is full or the file has reached its limit, *make_room* runs and the write is tried
    once more: new records are worth more than old ones.
    """

    def __init__(self, engines: Engines, *, make_room: Job[int], process: Process) -> None:
        self._engines = engines
        self._make_room = make_room
        self._process = process
        self._failing: dict[str, float] = {}
        """When each kind of job has failed last; those that say something of the whole database have no name."""
        self._writer = JobThreads("database writer", count=1, length=LONGEST_QUEUE)
        self._readers = JobThreads("database reader", count=engines.readers, length=LONGEST_QUEUE)

    async def write(
        self,
        job: Job[T],
        *,
        deadline_s: float = JOB_S,
        late: Callable[[T], None] | None = None,
    ) -> T:
        """Run *job* in a transaction of its own, and return once it is on disk.

        Raises `StoreUnavailableError` when that did not happen, or was not known in time. If it happens after all when nobody
        waits any more, *late* is called with what *job* returned: once, and never when it is returned here.
        """

        def happened(outcome: tuple[T, int]) -> None:
            result, given_up = outcome
            self._count_given_up(given_up)
            if late is not None:
                late(result)

        try:
            result, given_up = await self._outcome(
                self._writer, lambda: self._write(job, deadline_s), deadline_s, happened
            )
        except StoreUnavailableError as failure:
            self._process.meter.count(
                names.DATABASE_FAILURES, operation="write", reason=failure.reason
            )
            kind = _kind(job) if failure.reason in _OF_SOME else ""
            self._failing[kind] = self._process.clock.monotonic()
            self._process.readiness.fail(READINESS, str(failure))
            raise
        if self._failing and self._goes_again(_kind(job)):
            self._process.readiness.pass_(READINESS)
            # This has the level of the failure: whoever read of that must read of its end, too.
            log.warning("database_recovered", {names.PATH: self._engines.place})
        self._count_given_up(given_up)
        return result

    def _count_given_up(self, points: int) -> None:
        if points:
            self._process.meter.count(names.HISTORY_DROPPED, points, reason="full")

    def _goes_again(self, kind: str) -> bool:
        """Whether nothing fails any more, now that a job of *kind* was done."""
        now = self._process.clock.monotonic()
        self._failing = {
            other: at
            for other, at in self._failing.items()
            if other not in ("", kind) and now < at + RECALLED_S
        }
        return not self._failing

    async def read(self, job: Job[T], *, deadline_s: float = JOB_S) -> T:
        """Run *job* on a snapshot; raises `StoreUnavailableError`."""
        try:
            return await self._outcome(
                self._readers, lambda: self._read(job, deadline_s), deadline_s
            )
        except StoreUnavailableError as failure:
            self._process.meter.count(
                names.DATABASE_FAILURES, operation="read", reason=failure.reason
            )
            raise

    def close(self) -> None:
        """Finish the submitted jobs within `CLOSE_S`, and merge the journal into the file."""
        self._writer.close(CLOSE_S)
        self._readers.close(CLOSE_S)
        self._engines.close()

    async def _outcome(
        self,
        threads: JobThreads,
        run: Callable[[], T],
        deadline_s: float,
        late: Callable[[T], None] | None = None,
    ) -> T:
        try:
            future = threads.submit(run)
        except queue.Full:
            raise self._unavailable("queue_full") from None
        self._process.meter.gauge(names.DATABASE_QUEUE, self._writer.waiting())
        try:
            async with asyncio.timeout(deadline_s):
                try:
                    return await asyncio.wrap_future(future)
                except asyncio.CancelledError:
                    # A job whose turn has not come is not done, and may keep nothing alive.
                    if late is not None and not future.cancel():
                        _tell(late, future)
                    raise
        except TimeoutError:
            raise self._unavailable("deadline") from None
        except DataError as error:
            raise ValueRefusedError(f"a column cannot hold a value: {error.orig}"[:300]) from error
        except DBAPIError as error:
            reason = self._engines.reason_of(error.orig)
            log.warning("database_failed", {names.REASON: reason, names.ERROR: error.orig})
            raise self._unavailable(reason) from error

    def _unavailable(self, reason: Reason) -> StoreUnavailableError:
        return StoreUnavailableError(reason, self._engines.place, self._engines.name)

    def _write(self, job: Job[T], deadline_s: float) -> tuple[T, int]:
        """What *job* returned, and how many points of history were removed to make room for it."""
        try:
            return self._transaction(job, deadline_s), 0
        except DBAPIError as error:
            if self._engines.reason_of(error.orig) != "full" or not self._engines.gives_up_history:
                raise
        given_up = self._transaction(self._make_room, deadline_s)
        return self._transaction(job, deadline_s), given_up

    def _transaction(self, job: Job[T], deadline_s: float) -> T:
        for _ in range(self._engines.tries - 1):
            try:
                return self._once(job, deadline_s)
            except DBAPIError as error:
                if self._engines.reason_of(error.orig) != "conflict":
                    raise
            self._process.meter.count(names.DATABASE_CONFLICTS)
        return self._once(job, deadline_s)

    def _once(self, job: Job[T], deadline_s: float) -> T:
        with self._engines.writing(deadline_s) as connection:
            return job(connection)

    def _read(self, job: Job[T], deadline_s: float) -> T:
        with self._engines.reading(deadline_s) as connection:
            return job(connection)


def _tell(late: Callable[[T], None], future: Future[T]) -> None:
    """Call *late* in this loop with the result of *future*, which a thread is working on or has just got."""
    loop = asyncio.get_running_loop()

    def ended(done: Future[T]) -> None:
        if done.exception() is None:
            # A loop that is closed belongs to a process that ends.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(late, done.result())

    future.add_done_callback(ended)


def _kind(job: Callable[..., object]) -> str:
    """Which jobs write the same."""
    written_as = getattr(job, "func", job)
    return getattr(written_as, "__qualname__", type(written_as).__qualname__)
