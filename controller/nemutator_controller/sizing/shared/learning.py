"""One brain of several learns from the reports that all of them take; the others show what it has saved.

A report is acknowledged with its points in the same transaction, whichever brain takes it. The points are
removed in the transaction that saves the rows they were learned into. So a brain that dies takes nothing
with it: the next one begins with the saved rows and learns the points that are left.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.claim import Claim, ClaimLostError
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.ports import UsageConsumer
from nemutator_controller.ingest.usage_points import NodePoints
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.packed_rows import SavedUsage
from nemutator_controller.sizing.samples import FORGOTTEN_S
from nemutator_controller.sizing.shared.kept_points import (
    UnreadablePointsError,
    WaitingPoints,
    unpack,
)
from nemutator_controller.sizing.shared.ports import Beside, FlowWatcher, SharedUsages
from nemutator_controller.sizing.usages import Usages

log = logging.getLogger(__name__)

TURN_S = 2.0
SAVE_EVERY_S = 60.0
SHOWN_EVERY_S = 60.0
BESIDE_EVERY_S = 300.0
LAST_S = 0.5
AT_ONCE = 50
"""Reports, or rows, between two turns of the loop: about 20 ms."""


@dataclass(slots=True)
class SharedLearning:
    usages: Usages
    store: SharedUsages
    consumers: Sequence[UsageConsumer]
    process: Process
    most: int
    in_thread: Callable[..., Awaitable[None]]
    beside: Sequence[Beside] = ()
    """What else is learned from the same points, and saved beside."""
    watchers: Sequence[UsageConsumer] = ()
    """Who sees all points in each brain: of what is used now, nothing is saved."""
    flows: FlowWatcher | None = None
    """Who sees all flows in each brain."""
    save_every_s: float = SAVE_EVERY_S
    on_turn: Callable[[int | None], None] = lambda _: None
    """Told, each time it has learned what waits, the number of this brain's turn; and None when another one learns."""
    _claim: Claim | None = field(default=None, init=False)
    _learned: set[int] = field(default_factory=set, init=False)
    """Points that are in the rows in memory, and not in the saved ones."""
    _watched: set[int] = field(default_factory=set, init=False)
    """Those of the points that wait which watchers have seen."""
    _saved_at: float = field(default=0.0, init=False)
    _renewed_at: float = field(default=0.0, init=False)
    _shown_at: float = field(default=float("-inf"), init=False)
    _beside_at: float = field(default=0.0, init=False)
    _heard_at: float = field(default=0.0, init=False)
    """When the newest row that is shown was reported: of others no older ones have changed."""

    @property
    def learns(self) -> bool:
        """Whether this brain is the one that learns."""
        return self._claim is not None

    async def restore(self) -> None:
        """Show what was saved."""
        await self._start_from_store()

    async def run(self) -> None:
        try:
            while True:
                try:
                    await self.turn()
                except StoreUnavailableError as failure:
                    log.warning("usages_not_saved", {names.REASON: failure.reason})
                await self.process.clock.sleep(TURN_S)
        finally:
            with contextlib.suppress(TimeoutError, StoreUnavailableError):
                async with asyncio.timeout(LAST_S):
                    await self._leave()

    async def turn(self) -> None:
        """Learn what waits, or look whether this brain should; and show what the one that learns has saved."""
        if self._claim is None:
            claim = await self.store.take()
            if claim is None:
                await self._show()
                await self._take_in()
                return
            # Only now: what another brain has saved until this moment counts.
            if not await self._begin(claim):
                return
            self._claim = claim
            self._saved_at = self._renewed_at = self.process.clock.now()
            log.warning("learning_begun", {names.GENERATION: claim.generation})
        elif not await self._renew(self._claim):
            return
        await self._take_in()
        if self._claim is None:
            return
        # Not before: what waited is known now, and whoever learns from elsewhere learns what lies behind it.
        self.on_turn(self._claim.generation)
        for one in self.beside:
            await one.settle_once()
        await self._save_when_due()

    async def save(self) -> None:
        """Save what changed and forget the points that are in it."""
        if self._claim is None:
            return
        now = self.process.clock.now()
        old = self.usages.forget(silent_since=now - FORGOTTEN_S)
        self.process.meter.count(names.USAGES_DROPPED, old, reason="age")
        changed, gone = self.usages.changes()
        kept: dict[ContainerKey, SavedUsage] = {}
        for begin in range(0, len(changed), AT_ONCE):
            kept |= self.usages.kept(changed[begin : begin + AT_ONCE])
            await self.process.clock.sleep(0)
        learned = frozenset(self._learned)
        if not await self.store.save(self._claim, kept, gone, learned):
            await self._lose()
            return
        self.usages.saved(kept, gone)
        try:
            for one in self.beside:
                await one.save(self._claim)
        except ClaimLostError:
            await self._lose()
            return
        self._learned -= learned
        self._saved_at = now

    async def _begin(self, claim: Claim) -> bool:
        """Start from what was saved; whether *claim* still holds then.

        To read all of a large cluster may take longer than a claim lasts: then each brain in turn would only read it.
        """
        failure: StoreUnavailableError | ClaimLostError | None = None
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(self._keep(claim), name="keep the claim to learn")
            try:
                await self._start_from_store(claim)
            except (StoreUnavailableError, ClaimLostError) as error:
                failure = error
            keeping.cancel()
        if isinstance(failure, StoreUnavailableError):
            raise failure
        return failure is None and await self.store.renew(claim)

    async def _keep(self, claim: Claim) -> None:
        while True:
            await self.process.clock.sleep(TURN_S)
            with contextlib.suppress(StoreUnavailableError):
                if not await self.store.renew(claim):
                    return

    async def _take_in(self) -> None:
        """Watch what waits, and learn it where this brain does."""
        waiting = await self.store.waiting()
        known = self._watched if self._claim is None else self._watched & self._learned
        new = [number for number in waiting if number not in known]
        self._watched.intersection_update(waiting)
        for begin in range(0, len(new), AT_ONCE):
            several = new[begin : begin + AT_ONCE]
            self._take(await self.store.points(several))
            self._watched.update(several)
            await self.process.clock.sleep(0)
            if self._claim is not None and not await self._goes_on(self._claim):
                return

    async def _goes_on(self, claim: Claim) -> bool:
        """Whether this brain still learns. After an outage more may wait than is learned before its claim is lost: then each brain
        in turn would begin with it, and none would save anything."""
        if self.process.clock.now() - self._renewed_at < TURN_S:
            return True
        if not await self._renew(claim):
            return False
        await self._save_when_due()
        return self._claim is not None

    async def _renew(self, claim: Claim) -> bool:
        if not await self.store.renew(claim):
            await self._lose()
            return False
        self._renewed_at = self.process.clock.now()
        return True

    async def _save_when_due(self) -> None:
        if self.process.clock.now() - self._saved_at >= self.save_every_s:
            await self.save()

    def _take(self, several: Sequence[WaitingPoints]) -> None:
        seen, learned, now = list[NodePoints](), list[NodePoints](), self.process.clock.now()
        for waiting in several:
            is_new = self._claim is not None and waiting.number not in self._learned
            if is_new:
                self._learned.add(waiting.number)
            try:
                several_points, flows = unpack(waiting.packed)
            except UnreadablePointsError as error:
                found = {names.NODE: waiting.node, names.ERROR: error}
                log.warning("points_unreadable", found)
                continue
            points = NodePoints(waiting.node, several_points)
            is_unwatched = waiting.number not in self._watched
            if flows and is_unwatched and self.flows is not None:
                self.flows.take(waiting.node, flows, now=now)
            if not len(several_points):
                continue
            if is_unwatched:
                seen.append(points)
            if is_new:
                learned.append(points)
        for consumers, reported in ((self.watchers, seen), (self.consumers, learned)):
            for consumer in consumers if reported else ():
                consumer.learn_all(reported, now)

    async def _show(self) -> None:
        now = self.process.clock.now()
        if now - self._shown_at < SHOWN_EVERY_S:
            return
        changed = await self.store.load(heard_since=self._heard_at)
        items = list(changed.items())
        for begin in range(0, len(items), AT_ONCE):
            self.usages.show(dict(items[begin : begin + AT_ONCE]))
            await self.process.clock.sleep(0)
        self.usages.forget(silent_since=now - FORGOTTEN_S)
        self._note(changed.values(), now)
        if now - self._beside_at >= BESIDE_EVERY_S:
            await self._start_beside(None)

    async def _lose(self) -> None:
        """Another brain learns, and what is in memory alone it has learned itself; or the store was set back, and counts anew."""
        log.warning("learning_lost")
        self._claim = None
        self.on_turn(None)
        await self._start_from_store()

    async def _start_from_store(self, claim: Claim | None = None) -> None:
        saved = await self.store.load(heard_since=0.0)
        fresh = Usages(most=self.most, knobs=self.usages.knobs)
        await self.in_thread(fresh.restore, saved)
        self.usages.become(fresh)
        self._learned.clear()
        self._heard_at = 0.0
        self._note(saved.values(), self.process.clock.now())
        await self._start_beside(claim)

    async def _start_beside(self, claim: Claim | None) -> None:
        self._beside_at = self.process.clock.now()
        for one in self.beside:
            await one.restore_anew(claim)

    async def _leave(self) -> None:
        if self._claim is not None:
            await self.save()
        if self._claim is not None:
            await self.store.release(self._claim)

    def _note(self, shown: Iterable[SavedUsage], now: float) -> None:
        moments = [one.heard_at for one in shown]
        self._heard_at = max([self._heard_at, *moments])
        self._shown_at = now
