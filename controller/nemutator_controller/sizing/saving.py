"""Saves the histograms, so that a restart of the brain does not begin to learn anew."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.ports import UsageStore
from nemutator_controller.sizing.samples import FORGOTTEN_S
from nemutator_controller.sizing.usages import Usages

log = logging.getLogger(__name__)

EVERY_S = 60.0
"""What a killed brain loses of what it learned; of many thousands of containers up to ten minutes."""

AT_ONCE = 2_500
PART = 10
"""A save is of so many rows, or of this part of all if that is more. A container that runs changes its row each minute, and by less and
less; to save all of 20 000 takes some three seconds of a processor, which reports would miss in each."""

STEP = 250
"""Rows in one transaction: reports must not wait long behind it."""


@dataclass(frozen=True, slots=True)
class UsageSaver:
    usages: Usages
    store: UsageStore
    process: Process
    at_once: int = AT_ONCE

    async def restore(self) -> None:
        self.usages.restore(await self.store.load())

    async def run(self) -> None:
        """Save what changed, again and again, and all of it once more when cancelled."""
        clock = self.process.clock
        await save_repeatedly(self.save, every_s=EVERY_S, clock=clock, last=self.save_all)

    async def save(self) -> None:
        """Save what changed, of many rows those that have waited longest, and forget what has not been reported for long."""
        changed, gone = self._changes()
        await self._save(changed[: max(self.at_once, -(-len(self.usages) // PART))], gone)

    async def save_all(self) -> None:
        await self._save(*self._changes())

    def _changes(self) -> tuple[list[ContainerKey], frozenset[ContainerKey]]:
        old = self.usages.forget(silent_since=self.process.clock.now() - FORGOTTEN_S)
        self.process.meter.count(names.USAGES_DROPPED, old, reason="age")
        return self.usages.changes()

    async def _save(self, changed: Sequence[ContainerKey], gone: frozenset[ContainerKey]) -> None:
        try:
            # At least once: there may be nothing but what is gone.
            for begin in range(0, max(len(changed), 1), STEP):
                some = self.usages.kept(changed[begin : begin + STEP])
                await self.store.save(some, gone)
                self.usages.saved(some, gone)
                gone = frozenset()
        except StoreUnavailableError as failure:
            log.warning("usages_not_saved", {names.REASON: failure.reason})
