"""Finds the seasons of workloads, once a day for each, and follows them slot by slot.

What cannot be told any more, because reports are missing, a clock has jumped or a level has changed, keeps its
last plan for a week: its age is shown. A workload without a season is `flat`, and one of which too little is known
is `unknown`.
"""

import logging
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly
from nemutator_controller.seasons.day_book import CLUSTER, DAYS, ClosedSlot, DayBook, Scope
from nemutator_controller.seasons.phases import DayPlan, Season, SeasonState, observed, season_at
from nemutator_controller.seasons.ports import SavedDays
from nemutator_controller.seasons.records import FoundSeason
from nemutator_controller.seasons.start_times import StartTimes
from nemutator_controller.seasons.verdicts import (
    LEAST_DAYS,
    WHOLE_SHARE,
    SeasonVerdict,
    verdict_of,
)

T = TypeVar("T")

log = logging.getLogger(__name__)

SEASONS: tuple[Season, ...] = ("off-peak", "pre-peak", "peak", "surprise", "flat", "unknown")

LATE_S = 90.0
"""Reports of a slot may come for so long after it, but not for more than two slots."""
KEPT_DAYS = 7
"""A plan is followed for so long where nothing newer can be told."""
LONGEST_CHECK_S = 30.0
LONGEST_LEAD = 1 / 6
"""Of a day, however long its pods take: the rest of the day is not all before a peak."""
SAVED_EVERY = 24
"""Times a day, and not more often than once a minute."""
LEAST_SAVED_S = 60.0

AT_ONCE = 500
"""Workloads between two turns of the loop: of 10 000 with a plan each slot would hold it for a tenth of a second."""

NOTHING_YET = SeasonVerdict(seasonal=None, reason="no whole day of use is known yet")

InThread = Callable[[Callable[[], T]], Awaitable[T]]


@dataclass(slots=True)
class SeasonFinding:
    book: DayBook
    store: SavedDays
    process: Process
    _: KW_ONLY
    in_thread: InThread[SeasonVerdict]
    """Runs what takes some tens of milliseconds beside the event loop."""
    lead_s: float
    """The shortest, for whatever is ready sooner or of which nobody can tell."""
    starts: StartTimes = field(default_factory=lambda: StartTimes(most=0))
    found: dict[Scope, FoundSeason] = field(default_factory=dict, init=False)
    is_settled: bool = field(default=False, init=False)
    judged_day: int | None = field(default=None, init=False)
    _slot: int = field(default=-1, init=False)

    def season(self, scope: Scope) -> Season:
        found = self.found.get(scope)
        return "unknown" if found is None else found.state.season

    def lead_of(self, scope: Scope) -> int:
        """How many slots before a peak it has to be prepared for: as long as its pods take to be ready."""
        calendar = self.book.calendar
        shortest, measured = calendar.slots_of(self.lead_s), self.starts.ready_within_s(scope)
        if measured is None:
            return shortest
        # A real second is one in a compressed day, too.
        wanted = math.ceil(measured / calendar.slot_s)
        return max(shortest, min(wanted, int(calendar.slots * LONGEST_LEAD)))

    async def restore(self) -> None:
        calendar, now = self.book.calendar, self.process.clock.now()
        saved = await self.store.load(day_s=calendar.day_s)
        left = self.book.restore(saved, now=now)
        if left:
            log.info("season_days_left", {names.COUNT: left})

    async def run(self) -> None:
        every_s = min(max(self.book.calendar.slot_s / 5, 1.0), LONGEST_CHECK_S)
        while True:
            await self.check()
            await self.process.clock.sleep(every_s)

    @property
    def _saved_every_s(self) -> float:
        return max(self.book.calendar.day_s / SAVED_EVERY, LEAST_SAVED_S)

    async def run_saving(self) -> None:
        clock = self.process.clock
        await save_repeatedly(self.save, every_s=self._saved_every_s, clock=clock)

    async def run_filling(self, leads: Callable[[], bool]) -> None:
        """Where another brain saves: this one may have missed what that one has heard."""
        while True:
            await self.process.clock.sleep(self._saved_every_s)
            if not leads():
                try:
                    await self.fill()
                except StoreUnavailableError as failure:
                    log.warning("season_days_not_read", {names.REASON: failure.reason})

    async def fill(self) -> None:
        """Know of yesterday and today what was saved, beside what was heard here; before this brain saves in the place of
        another one, so that nothing of it is lost. Raises `StoreUnavailableError`."""
        calendar, now = self.book.calendar, self.process.clock.now()
        since = calendar.place(now).day - 1
        self.book.fill(await self.store.load(day_s=calendar.day_s, since=since), now=now)

    async def save(self) -> None:
        day_s = self.book.calendar.day_s
        days = self.book.take_changed()
        try:
            await self.store.save(days, day_s=day_s)
            if self.book.today is not None:
                await self.store.drop(before=self.book.today - DAYS + 1, day_s=day_s)
        except StoreUnavailableError as failure:
            self.book.give_back(days)
            log.warning("season_days_not_saved", {names.REASON: failure.reason})

    async def check(self) -> None:
        """Close the slots that are over, judge where a day has begun, and say which season it is."""
        calendar, now = self.book.calendar, self.process.clock.now()
        late_s = min(LATE_S, 2 * calendar.slot_s)
        # Nothing may be added between two of them.
        for slot in list(self.book.close(now=now, late_s=late_s)):
            await self._observe(slot)
        # A day is over when its last slot is closed.
        place = calendar.place(now - late_s)
        if place.day != self.judged_day:
            await self._judge(place.day)
            self.judged_day, self.is_settled, self._slot = place.day, True, -1
        here = calendar.place(self.process.clock.now()).slot
        if here != self._slot:
            self._slot = here
            await self._follow(here, now)

    async def _planned(self) -> AsyncIterator[tuple[Scope, FoundSeason, DayPlan]]:
        """What has a plan; others have their turns of the loop in between."""
        for number, (scope, found) in enumerate(list(self.found.items())):
            if number % AT_ONCE == 0:
                await self.process.clock.sleep(0)
            if found.plan is not None:
                yield scope, found, found.plan

    async def _observe(self, slot: ClosedSlot) -> None:
        async for scope, found, plan in self._planned():
            line = self.book.numbers.get(scope)
            used = None
            if line is not None and line < len(slot.use) and np.isfinite(slot.use[line]):
                used = float(slot.use[line])
            state = observed(found.state, plan, slot.place.slot, used)
            self.found[scope] = _with(found, state)

    async def _follow(self, slot: int, now: float) -> None:
        async for scope, found, plan in self._planned():
            self.found[scope] = _with(found, season_at(found.state, plan, slot, at=now))
        counts = Counter(
            found.state.season for scope, found in self.found.items() if scope != CLUSTER
        )
        cluster = self.season(CLUSTER)
        for season in SEASONS:
            self.process.meter.gauge(names.SEASONS, counts[season], season=season)
            self.process.meter.gauge(names.CLUSTER_SEASON, float(season == cluster), season=season)

    async def _judge(self, today: int) -> None:
        clock = self.process.clock
        whole = np.zeros(len(self.book.numbers), dtype=np.int64)
        for known in self.book.whole_days(before=today, share=WHOLE_SHARE):
            whole += known
            await clock.sleep(0)
        for number, (scope, line) in enumerate(list(self.book.numbers.items())):
            if number % AT_ONCE == 0:
                await clock.sleep(0)
            count = int(whole[line]) if line < len(whole) else 0
            if count < LEAST_DAYS:
                # Ten thousand jobs of a day cost no more than this.
                verdict = _too_few(count)
            else:
                _, days = self.book.days(line, before=today)
                lead = self.lead_of(scope)
                verdict = await self.in_thread(partial(verdict_of, days, lead=lead))
            self._take(scope, verdict)
        for gone in self.found.keys() - self.book.numbers.keys():
            del self.found[gone]

    def _take(self, scope: Scope, verdict: SeasonVerdict) -> None:
        now = self.process.clock.now()
        before = self.found.get(scope)
        if verdict.seasonal and verdict.plan is not None:
            state = SeasonState(since=now) if before is None else before.state
            found = FoundSeason(verdict=verdict, state=state, plan=verdict.plan, planned_at=now)
        elif verdict.seasonal is None and before is not None and self._holds(before, now):
            found = FoundSeason(
                verdict=verdict, state=before.state, plan=before.plan, planned_at=before.planned_at
            )
        else:
            season: Season = "unknown" if verdict.seasonal is None else "flat"
            same = before is not None and before.state.season == season
            since = before.state.since if same and before is not None else now
            found = FoundSeason(verdict=verdict, state=SeasonState(season, since=since))
        self.found[scope] = found

    def _holds(self, before: FoundSeason, now: float) -> bool:
        age_s = now - before.planned_at
        return before.plan is not None and 0 <= age_s <= KEPT_DAYS * self.book.calendar.day_s


def _with(found: FoundSeason, state: SeasonState) -> FoundSeason:
    return FoundSeason(
        verdict=found.verdict, state=state, plan=found.plan, planned_at=found.planned_at
    )


def _too_few(count: int) -> SeasonVerdict:
    if not count:
        return NOTHING_YET
    reason = f"{count} whole days of use are known, and {LEAST_DAYS} are needed"
    return SeasonVerdict(seasonal=None, reason=reason, days=count)
