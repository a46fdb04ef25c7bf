"""Saves the weeks of those that were bad, so that a restart of the brain does not forget who they are."""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly
from nemutator_controller.neighbours.ports import WeekStore
from nemutator_controller.neighbours.verdicts import Verdicts

log = logging.getLogger(__name__)

EVERY_S = 600.0
MOST = 5_000
"""Pods, and as many workloads, of each role: the worst. Of the others a week begins anew, with nothing bad in it."""


@dataclass(frozen=True, slots=True)
class WeekSaving:
    verdicts: Verdicts
    store: WeekStore
    process: Process
    every_s: float = EVERY_S

    async def restore(self) -> None:
        """Raises `StoreUnavailableError`."""
        self.verdicts.restore(await self.store.load(), now=self.process.clock.now())

    async def run(self) -> None:
        await save_repeatedly(self.save, every_s=self.every_s, clock=self.process.clock)

    async def save(self) -> None:
        try:
            await self.store.replace(self.verdicts.saved(most=MOST))
        except StoreUnavailableError as failure:
            log.warning("neighbour_weeks_not_saved", {names.REASON: failure.reason})
