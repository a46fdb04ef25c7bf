"""Saves the histograms, so that a restart of the brain does not begin to learn anew."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.sizing.ports import UsageStore
from nemutator_controller.sizing.usages import FORGOTTEN_S, Usages

log = logging.getLogger(__name__)

EVERY_S = 60.0
"""What a killed brain loses of what it learned."""

LAST_S = 0.5
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
        try:
            while True:
                await self.process.clock.sleep(EVERY_S)
                await self.save()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_S):
                    await self.save()

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
