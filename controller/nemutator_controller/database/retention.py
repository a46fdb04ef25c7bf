"""Keeps what is stored within its age and its number, in small steps."""

import logging
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter

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


class Retention:
    def __init__(
        self,
        store: Bounded,
        keep: RetentionLimit,
        cleaning: RetentionTask,
        *,
        meter: Meter,
        clock: Clock,
    ) -> None:
        self._store = store
        self._keep = keep
        self._cleaning = cleaning
        self._meter = meter
        self._clock = clock

    async def run(self) -> None:
        while True:
            try:
                await self.prune()
            except StoreUnavailableError as failure:
                found = {names.TASK: self._cleaning.task, names.REASON: failure.reason}
                log.warning("not_pruned", found)
            await self._clock.sleep(self._cleaning.every_s)

    async def prune(self) -> None:
        """Remove all that is too old or too much."""
        cleaning = self._cleaning
        limit = self._clock.now() - self._keep.seconds
        while dropped := await self._store.drop_before(limit, most=cleaning.step):
            self._meter.count(cleaning.dropped, dropped, reason="age")
        records = await self._store.count()
        while records > self._keep.records:
            most = min(cleaning.step, records - self._keep.records)
            # Somebody else may have removed some meanwhile: never round for ever.
            if not (dropped := await self._store.drop_oldest(most=most)):
                break
            self._meter.count(cleaning.dropped, dropped, reason="count")
            records -= dropped
        self._meter.gauge(cleaning.kept, records)
