"""Seasons are found once a day, followed slot by slot, and kept where nothing newer can be told."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from nemutator_common import names
from nemutator_controller.seasons.calendars import SeasonCalendar
from nemutator_controller.seasons.day_book import CLUSTER, DayBook, SavedDay, Scope
from nemutator_controller.seasons.finding import AT_ONCE, LONGEST_LEAD, SeasonFinding
from nemutator_controller.seasons.start_times import StartTimes
from nemutator_controller.seasons.verdicts import SeasonVerdict

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.seasons import MemorySeasonDays

WEB: Scope = ("shop", "Deployment", "web")
QUICK: Scope = ("shop", "Deployment", "quick")
DAY_S = 1_440.0
"""A day of 24 minutes: 96 slots of a quarter of a minute."""
DAY = 1_000_000
SLOTS = 96


async def here(work: Callable[[], SeasonVerdict]) -> SeasonVerdict:
    return work()


class Play:
    def __init__(self, *, clock: ManualClock | None = None, most: int = 20) -> None:
        self.clock, self.meter = clock or ManualClock(DAY * DAY_S), MemoryMeter()
        self.store = MemorySeasonDays()
        self.book = DayBook(SeasonCalendar(lambda _: 0.0, DAY_S), most)
        self.finding = SeasonFinding(
            self.book,
            self.store,
            fake_process(clock=self.clock, meter=self.meter),
            in_thread=here,
            lead_s=3_600.0,
        )

    def know(self, days: int, *, scope: Scope = WEB, level: float = 1.0, until: int = DAY) -> None:
        """Busy in the second half of each day."""
        day = np.where(np.arange(SLOTS) < SLOTS // 2, level, 10 * level).astype(np.float16)
        for number in range(until - days, until):
            self.store.days[scope, DAY_S, number] = SavedDay(scope, number, day)

    async def use(self, cores: float, slots: int, *, scope: Scope = WEB) -> None:
        """Report so much, and look after each slot."""
        for _ in range(slots):
            begin = self.clock.now()
            await self.clock.advance(self.book.calendar.slot_s)
            line = self.book.line_of(scope, now=begin)
            assert line is not None
            end = self.clock.now()
            self.book.add(
                np.array([line]),
                np.array([begin]),
                np.array([end]),
                np.array([cores]),
                np.array([True]),
                now=end,
            )
            await self.finding.check()


async def test_a_day_that_repeats_is_followed_through_its_seasons() -> None:
    play = Play()
    play.know(6)
    await play.finding.restore()
    await play.finding.check()
    assert play.finding.is_settled
    assert play.finding.found[WEB].verdict.seasonal is True
    seen = []
    for slot in range(SLOTS):
        await play.use(1.0 if slot < SLOTS // 2 else 10.0, 1)
        seen.append(play.finding.season(WEB))

    order = list(dict.fromkeys(seen))
    assert order[:3] == ["off-peak", "pre-peak", "peak"]
    assert seen.count("peak") == pytest.approx(SLOTS // 2, abs=6)
    # The lead is an hour of a day of 24.
    assert seen.count("pre-peak") == 4
    assert play.meter.value(names.SEASONS, season="peak") in (0, 1)


async def test_whatever_takes_long_to_be_ready_is_prepared_for_as_long() -> None:
    play = Play()
    play.know(6)
    play.know(6, scope=QUICK)
    slot_s = play.book.calendar.slot_s
    play.finding.starts = StartTimes(most=10)
    for _ in range(3):
        play.finding.starts.add(WEB, 6.5 * slot_s)
        play.finding.starts.add(QUICK, 0.5)
    await play.finding.restore()
    await play.finding.check()
    leads = {}
    for scope in (WEB, QUICK):
        plan = play.finding.found[scope].plan
        assert plan is not None
        leads[scope] = list(plan.seasons).count("pre-peak")
    # The setting is an hour of 24, which are four slots; a start is rounded up.
    assert leads == {WEB: 7, QUICK: 4}
    for _ in range(3):
        play.finding.starts.add(WEB, 14_000.0)
    assert play.finding.lead_of(WEB) == SLOTS * LONGEST_LEAD


async def test_a_rush_at_night_is_a_surprise() -> None:
    play = Play()
    play.know(6)
    await play.finding.restore()
    await play.finding.check()
    await play.use(1.0, 6)
    assert play.finding.season(WEB) == "off-peak"
    await play.use(30.0, 8)
    assert play.finding.season(WEB) == "surprise"
    await play.use(1.0, 10)
    assert play.finding.season(WEB) == "off-peak"


async def test_ten_thousand_jobs_of_a_day_are_told_without_a_backtest() -> None:
    play = Play(most=10_000)
    for number in range(10_000):
        play.book.line_of(("jobs", "Job", str(number)), now=play.clock.now())
    asked = 0

    async def counted(work: Callable[[], SeasonVerdict]) -> SeasonVerdict:
        nonlocal asked
        asked += 1
        return work()

    play.finding.in_thread = counted
    await play.finding.check()
    assert asked == 0
    assert len(play.finding.found) == 10_001
    one = play.finding.found["jobs", "Job", "7"]
    assert (one.state.season, one.verdict.reason) == (
        "unknown",
        "no whole day of use is known yet",
    )


async def test_after_a_gap_the_old_season_is_kept_with_its_age_and_then_not() -> None:
    play = Play()
    play.know(8)
    await play.finding.restore()
    await play.finding.check()
    planned_at = play.finding.found[WEB].planned_at
    await play.clock.advance(5 * DAY_S)
    await play.finding.check()
    kept = play.finding.found[WEB]
    assert kept.verdict.seasonal is None
    assert kept.verdict.reason.startswith("nothing is known of 4 of the last 7 days")
    assert kept.planned_at == planned_at
    assert kept.state.season in ("off-peak", "pre-peak", "peak")

    await play.clock.advance(4 * DAY_S)
    await play.finding.check()
    assert play.finding.season(WEB) == "unknown"


async def test_a_clock_that_jumps_does_not_flap() -> None:
    play = Play()
    play.know(8)
    await play.finding.restore()
    await play.use(1.0, 4)
    before = play.finding.season(WEB)
    far = Play(clock=ManualClock(play.clock.now() + 3 * DAY_S))
    play.finding.process = far.finding.process
    await play.finding.check()
    play.finding.process = fake_process(clock=play.clock, meter=play.meter)
    await play.finding.check()
    assert play.finding.season(WEB) == before
    assert play.finding.found[WEB].plan is not None


async def test_what_was_learned_outlives_a_restart() -> None:
    play = Play()
    play.know(6)
    await play.finding.restore()
    await play.use(1.0, 20)
    await play.finding.save()
    other = Play(clock=play.clock)
    other.store.days = dict(play.store.days)
    await other.finding.restore()
    await other.finding.check()
    assert other.finding.season(WEB) == play.finding.season(WEB)
    line = other.book.numbers[WEB]
    assert np.isfinite(other.book.today_of(line)).sum() >= 16


async def test_what_cannot_be_saved_is_saved_later() -> None:
    play = Play()
    await play.use(1.0, 10)
    play.store.is_away = True
    await play.finding.save()
    assert play.store.days == {}
    play.store.is_away = False
    await play.finding.save()
    assert {scope for scope, _, _ in play.store.days} == {WEB, CLUSTER}


async def test_of_two_brains_the_one_that_goes_on_has_what_the_other_has_saved() -> None:
    one, other = Play(), Play()
    other.store = one.store
    other.finding.store = one.store
    await one.use(1.0, 8)
    await one.finding.save()
    # It has started later, and hears what comes from then on. Of slots that are open nothing is saved.
    await other.clock.advance(5 * other.book.calendar.slot_s)
    await other.use(2.0, 7)
    await other.finding.fill()
    await other.finding.save()
    line = other.book.numbers[WEB]
    use = other.book.today_of(line)
    assert np.isfinite(use[:10]).all()
    assert use[0] == 1.0
    assert use[9] == 2.0
    saved = one.store.days[WEB, DAY_S, DAY]
    assert np.count_nonzero(saved.use) == np.count_nonzero(np.isfinite(use))


async def test_others_have_their_turns_while_many_workloads_are_followed() -> None:
    play, turns, is_done = Play(), 0, False
    play.know(6)
    await play.finding.restore()
    await play.finding.check()
    many = {("shop", "Deployment", f"web-{number}"): number for number in range(3 * AT_ONCE)}
    play.finding.found |= dict.fromkeys(many, play.finding.found[WEB])

    async def others() -> None:
        nonlocal turns
        while not is_done:
            await asyncio.sleep(0)
            turns += 1

    await play.clock.advance(play.book.calendar.slot_s)
    async with asyncio.TaskGroup() as group:
        group.create_task(others())
        await play.finding.check()
        seen, is_done = turns, True
    assert seen >= 3
