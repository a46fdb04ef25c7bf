"""Saves history cell by cell, so that a restart of the brain does not forget it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.claim import Claim
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly
from nemutator_controller.history.ports import UsageHistoryStore
from nemutator_controller.history.rows import NumberedKey
from nemutator_controller.history.saved_history import Changed, Restoring, slices, to_save
from nemutator_controller.history.slices import LEVELS, PART, SavedRow, Slice
from nemutator_controller.history.usage_history import FORGOTTEN_S, UsageHistory

log = logging.getLogger(__name__)

EVERY_S = 60.0
"""What a killed brain loses of its history."""

SETTLE_EVERY_S = 15.0

STEP = 16
"""Slices in one transaction, half a megabyte at most: reports must not wait long behind it."""

ROWS_STEP = 1_000
"""Rows in one transaction. A brain that meets a cluster has 40 000 of them to save at once: half a second for the database, and some for
the loop, whose turn of the interpreter they take."""


@dataclass(slots=True)
class UsageHistorySaver:
    usage: UsageHistory
    store: UsageHistoryStore
    process: Process
    _saved: int = field(default=0, init=False)
    """The number of the last save."""

    async def restore(self) -> None:
        await self.store.drop_beyond(self.usage.rows.most)
        await self._read()

    async def _read(self) -> None:
        now = self.process.clock.now()
        restoring = Restoring(self.usage, now=now)
        restoring.put_rows(await self.store.rows(), now=now)
        for level in LEVELS:
            found: list[Slice] = []
            for part in range(-(-self.usage.rows.used // PART)):
                found += await self.store.slices(level, part)
            restoring.put_slices(found)
        self._saved = restoring.saved
        self.usage.rows.saved(self.usage.rows.begun(), [])

    async def restore_anew(self, claim: Claim | None) -> None:
        """Know what is saved, and nothing else: another brain has saved it, and may keep more rows than this one shows.

        With the *claim* rows beyond our limit are removed.
        """
        if claim is not None:
            await self.store.drop_beyond(self.usage.rows.most, claim)
        fresh = UsageHistorySaver(self.usage.empty(), self.store, self.process)
        await fresh._read()
        self.usage.become(fresh.usage)
        self._saved = fresh._saved

    async def run(self) -> None:
        """Save what changed, again and again and once more when cancelled."""
        await save_repeatedly(self.save, every_s=EVERY_S, clock=self.process.clock)

    async def settle(self) -> None:
        """Settle what is old enough, again and again."""
        while True:
            await self.settle_once()
            await self.process.clock.sleep(SETTLE_EVERY_S)

    async def settle_once(self) -> None:
        for _ in self.usage.settle(now=self.process.clock.now()):
            await self.process.clock.sleep(0)

    async def save(self, claim: Claim | None = None) -> None:
        """Save what changed since the last time, and forget what has not been reported for long.

        Several brains need the *claim*; raises `ClaimLostError`.
        """
        old = self.usage.forget(silent_since=self.process.clock.now() - FORGOTTEN_S)
        self.process.meter.count(names.HISTORY_ROWS_DROPPED, old, reason="age")
        self.process.meter.gauge(names.HISTORY_ROWS, len(self.usage.rows))
        self._saved += 1
        begun, gone = self.usage.rows.begun(), self.usage.rows.gone()
        changed = to_save(self.usage, self.usage.take_changed())
        try:
            await self._save(begun, gone, changed, claim)
        except StoreUnavailableError as failure:
            log.warning("history_not_saved", {names.REASON: failure.reason})

    async def _save(
        self,
        begun: Sequence[NumberedKey],
        gone: Sequence[int],
        changed: Sequence[Changed],
        claim: Claim | None,
    ) -> None:
        # Rows come first: a slice without its row would be another's.
        made = slices(self.usage, changed, saved=self._saved)
        try:
            while len(begun) > ROWS_STEP:
                await self._save_rows(begun[:ROWS_STEP], gone, [], claim)
                begun, gone = begun[ROWS_STEP:], []
            await self._save_rows(begun, gone, list(islice(made, STEP)), claim)
            while some := list(islice(made, STEP)):
                await self.store.save([], [], some, claim)
        except BaseException:
            self.usage.changed.update(changed)
            raise

    async def _save_rows(
        self,
        begun: Sequence[NumberedKey],
        gone: Sequence[int],
        some: Sequence[Slice],
        claim: Claim | None,
    ) -> None:
        rows = [SavedRow(number, key, self._saved) for number, key in begun]
        await self.store.save(rows, gone, some, claim)
        self.usage.rows.saved(begun, gone)
