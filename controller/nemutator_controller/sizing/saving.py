"""Saves the histograms, so that a restart of the brain does not begin to learn anew."""

import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly
from nemutator_controller.sizing.ports import UsageStore
from nemutator_controller.sizing.samples import FORGOTTEN_S
from nemutator_controller.sizing.usages import Usages

log = logging.getLogger(__name__)

EVERY_S = 60.0
"""What a killed brain loses of what it learned; of many thousands of containers up to ten minutes."""

STEP = 250
"""Rows in one transaction: reports must not wait long behind it."""


@dataclass(frozen=True, slots=True)
class UsageSaver:
    usages: Usages
    store: UsageStore
    process: Process

    async def restore(self) -> None:
        self.usages.restore(await self.store.load())

    async def run(self) -> None:
        """Save what changed, again and again and once more when cancelled."""
        await save_repeatedly(self.save, every_s=EVERY_S, clock=self.process.clock)

    async def save(self) -> None:
        """Save what changed since the last time, and forget what has not been reported for long."""
        old = self.usages.forget(silent_since=self.process.clock.now() - FORGOTTEN_S)
        self.process.meter.count(names.USAGES_DROPPED, old, reason="age")
        changed, gone = self.usages.changes()
        try:
            # At least once: there may be nothing but what is gone.
            for begin in range(0, max(len(changed), 1), STEP):
                some = self.usages.kept(changed[begin : begin + STEP])
                await self.store.save(some, gone)
                self.usages.saved(some, gone)
                gone = frozenset()
        except StoreUnavailableError as failure:
            log.warning("usages_not_saved", {names.REASON: failure.reason})
