"""Keeps the history within its age and its number of points, in small steps."""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.usage.ports import HistoryStore

log = logging.getLogger(__name__)

EVERY_S = 60.0
STEP = 1_000
"""Points in one transaction: reports must not wait long behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """How much history is kept: whichever is reached first."""

    seconds: float
    points: int


class Retention:
    def __init__(self, store: HistoryStore, keep: Keep, *, meter: Meter, clock: Clock) -> None:
        self._store = store
        self._keep = keep
        self._meter = meter
        self._clock = clock

    async def run(self) -> None:
        while True:
            try:
                await self.prune()
            except StoreUnavailableError as failure:
                log.warning("history_not_pruned", {names.REASON: failure.reason})
            await self._clock.sleep(EVERY_S)

    async def prune(self) -> None:
        """Remove all that is too old or too much."""
        limit = self._clock.now() - self._keep.seconds
        while dropped := await self._store.drop_before(limit, most=STEP):
            self._meter.count(names.HISTORY_DROPPED, dropped, reason="age")
        points = await self._store.count()
        while points > self._keep.points:
            dropped = await self._store.drop_oldest(most=min(STEP, points - self._keep.points))
            self._meter.count(names.HISTORY_DROPPED, dropped, reason="count")
            points -= dropped
        self._meter.gauge(names.HISTORY_POINTS, points)
