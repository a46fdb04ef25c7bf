"""Stores the batches of many nodes in one transaction, because each waits for the disk as long as all.

Nobody's batch waits for another group than the one before its own. What one batch breaks is stored without it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Batch, Envelope

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.progress import Stored

GATHER_S = 0.01
"""How long a group waits for others. A disk takes about as long to write it."""

MOST = 128
"""Batches in one group."""

LONGEST_QUEUE = 512
"""Batches that wait: some 20 MB, and a second's work."""

LONGEST_WAIT_S = 20.0
"""Several groups may be before one, each with the deadline of the database."""


class GroupStore(Protocol):
    async def stored_up_to(self, node: str, epoch: str) -> int:
        """The number in the `Ack` so far; 0 when there is none."""
        ...

    async def store_all(
        self,
        batches: Sequence[Batch],
        *,
        now: float,
        late: Callable[[Sequence[Stored[Envelope]]], None] | None = None,
    ) -> Sequence[Stored[Envelope]]:
        """Keep what is new in *batches*, all of it or nothing, and return when it is on disk.

        If that is the case only after this has failed, *late* is called with what would have been returned.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: Batch
    done: "asyncio.Future[Stored[Envelope]]"


@dataclass(slots=True)
class GatheredReports:
    """A `ReportStore`; `run` is the task that writes.

    What is new in a batch is either returned to whoever stores it, or told to *late*: when the deadline has passed, or the caller
    has gone, while the database was at it. Its next sending is not new then.
    """

    inner: GroupStore
    process: Process
    gather_s: float = GATHER_S
    late: Callable[[Batch, Stored[Envelope]], None] = lambda _, __: None
    _waiting: deque[_Waiting] = field(default_factory=deque, init=False)
    _filled: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def stored_up_to(self, node: str, epoch: str) -> int:
        return await self.inner.stored_up_to(node, epoch)

    async def store(self, batch: Batch, *, now: float) -> Stored[Envelope]:
        """Keep what is new in *batch*; returns when it is on disk."""
        if len(self._waiting) >= LONGEST_QUEUE:
            raise StoreUnavailableError("queue_full")
        waiting = _Waiting(batch, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._filled.set()
        try:
            async with asyncio.timeout(LONGEST_WAIT_S):
                try:
                    return await waiting.done
                except asyncio.CancelledError:
                    # What came of it may have arrived in the same turn of the loop.
                    done = waiting.done
                    if not (done.cancel() or done.cancelled() or done.exception()):
                        self._tell([batch], [done.result()])
                    raise
        except TimeoutError:
            raise StoreUnavailableError("deadline") from None

    async def run(self) -> None:
        """Write what waits, group after group."""
        while True:
            await self._filled.wait()
            if len(self._waiting) < MOST and self.gather_s:
                await self.process.clock.sleep(self.gather_s)
            group = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
            if not self._waiting:
                self._filled.clear()
            # Those whose callers have gone were not written yet, and are sent again.
            group = [one for one in group if not one.done.done()]
            if group:
                self.process.meter.observe(names.REPORT_GROUP_SIZE, len(group))
                await self._write(group)

    async def _write(self, group: Sequence[_Waiting]) -> None:
        try:
            batches = [one.batch for one in group]
            stored = await self.inner.store_all(
                batches, now=self.process.clock.now(), late=partial(self._tell, batches)
            )
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            if len(group) > 1 and _may_be_of_one(error):
                for one in group:
                    await self._write([one])
                return
            for one in group:
                if not one.done.done():
                    one.done.set_exception(error)
            return
        for one, result in zip(group, stored, strict=True):
            if one.done.done():
                self._tell([one.batch], [result])
            else:
                one.done.set_result(result)

    def _tell(self, batches: Sequence[Batch], stored: Sequence[Stored[Envelope]]) -> None:
        for batch, result in zip(batches, stored, strict=True):
            if result.fresh:
                # Whoever counts what is returned has not seen these.
                self.process.meter.count(names.REPORTS_STORED, len(result.fresh))
                self.process.meter.count(names.REPORTS_LOST, result.lost)
                self.late(batch, result)


def _may_be_of_one(error: Exception) -> bool:
    """Whether one batch may be the reason, and the others can be stored without it."""
    return not isinstance(error, StoreUnavailableError) or error.reason == "other"
