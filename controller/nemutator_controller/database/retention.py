"""Keeps what is stored within its age and its number, in small steps."""

import logging
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError

log = logging.getLogger(__name__)


class Bounded(Protocol):
    """A store whose oldest records can go. Raises `StoreUnavailableError`."""

    async def drop_before(self, moment: float, *, most: int) -> int:
        """Remove up to *most* records older than *moment*, oldest first; how many there were."""
        ...

    async def drop_oldest(self, *, most: int) -> int: ...

    async def count(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionLimit:
    """How much is kept: whichever is reached first."""

    seconds: float
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionTask:
    """How a kind of records is looked after."""

    task: str
    """Who says so in the log when it does not work."""
    every_s: float
    step: int
    """Records in one transaction: reports must not wait long behind it."""
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
        """Remove all that is too old or too much."""
        cleaning = self.task
        limit = self.process.clock.now() - self.limit.seconds
        while dropped := await self.store.drop_before(limit, most=cleaning.step):
            self.process.meter.count(cleaning.dropped, dropped, reason="age")
        records = await self.store.count()
        while records > self.limit.records:
            most = min(cleaning.step, records - self.limit.records)
            # Somebody else may have removed some meanwhile: never round for ever.
            if not (dropped := await self.store.drop_oldest(most=most)):
                break
            self.process.meter.count(cleaning.dropped, dropped, reason="count")
            records -= dropped
        self.process.meter.gauge(cleaning.kept, records)
