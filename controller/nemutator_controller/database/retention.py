"""Removes records that are too old or too many, in small steps."""

import logging
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError

log = logging.getLogger(__name__)


class Bounded(Protocol):
    """A store whose oldest records can be removed. Its calls raise `StoreUnavailableError`."""

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* records older than *moment*, oldest first; returns their number."""
        ...

    async def drop_oldest(self, *, most: int) -> int: ...

    async def count(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionLimit:
    """The age and number of records to retain; whichever is reached first applies."""

    seconds: float
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionTask:
    """How one kind of record is pruned."""

    task: str
    """The name of the task in the log when it fails."""
    every_s: float
    step: int
    """Records in one transaction, few enough that reports do not wait long for it."""
    kept: names.Metric
    dropped: names.Metric


@dataclass(frozen=True, slots=True)
class Retention:
    store: Bounded
    limit: RetentionLimit
    task: RetentionTask
    process: Process

    async def run(self) -> None:
        while True:
            try:
                await self.prune()
            except StoreUnavailableError as failure:
                found = {names.TASK: self.task.task, names.REASON: failure.reason}
                log.warning("not_pruned", found)
            await self.process.clock.sleep(self.task.every_s)

    async def prune(self) -> None:
        """Remove all records that are too old or too many."""
        cleaning = self.task
        limit = self.process.clock.now() - self.limit.seconds
        while dropped := await self.store.drop_before(limit, most=cleaning.step):
            self.process.meter.count(cleaning.dropped, dropped, reason="age")
        records = await self.store.count()
        while records > self.limit.records:
            most = min(cleaning.step, records - self.limit.records)
            # Other code may have removed some meanwhile, so this must not loop for ever.
            if not (dropped := await self.store.drop_oldest(most=most)):
                break
            self.process.meter.count(cleaning.dropped, dropped, reason="count")
            records -= dropped
        self.process.meter.gauge(cleaning.kept, records)
