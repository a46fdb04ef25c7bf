"""Keeps the journal within its age and its number of decisions, in small steps."""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.journal.ports import JournalStore

log = logging.getLogger(__name__)

EVERY_S = 300.0
STEP = 200
"""Decisions in one transaction: reports must not wait long behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """How much is kept: whichever is reached first."""

    seconds: float
    decisions: int


class Retention:
    def __init__(self, store: JournalStore, keep: Keep, *, meter: Meter, clock: Clock) -> None:
        self._store = store
        self._keep = keep
        self._meter = meter
        self._clock = clock

    async def run(self) -> None:
        while True:
            try:
                await self.prune()
            except StoreUnavailableError as failure:
                log.warning("journal_not_pruned", {names.REASON: failure.reason})
            await self._clock.sleep(EVERY_S)

    async def prune(self) -> None:
        """Remove all that is too old or too much."""
        limit = self._clock.now() - self._keep.seconds
        while dropped := await self._store.drop_before(limit, most=STEP):
            self._meter.count(names.DECISIONS_DROPPED, dropped, reason="age")
        decisions = await self._store.count()
        while decisions > self._keep.decisions:
            most = min(STEP, decisions - self._keep.decisions)
            dropped = await self._store.drop_oldest(most=most)
            self._meter.count(names.DECISIONS_DROPPED, dropped, reason="count")
            decisions -= dropped
        self._meter.gauge(names.DECISIONS, decisions)
