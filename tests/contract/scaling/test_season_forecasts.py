"""What a season foresees of a workload, from days that were saved; and that a silent one is not to be followed."""

import datetime

import numpy as np
import pytest
from nemutator_controller.app.scaling import forecast_of, foreseen_millis
from nemutator_controller.seasons.calendars import SeasonCalendar, zone_offset
from nemutator_controller.seasons.day_book import CLUSTER, DayBook, SavedDay, Scope
from nemutator_controller.seasons.finding import SeasonFinding
from nemutator_controller.seasons.verdicts import SeasonVerdict

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.scaling import WEB

DAY_S = 3_600.0
MIDNIGHT = 1_700_000_000 // DAY_S * DAY_S


class NoDays:
    """`SavedDays` of which nothing is there."""

    async def load(self, *, day_s: float, since: int | None = None) -> list[SavedDay]:
        return []

    async def save(self, days: object, *, day_s: float) -> None: ...

    async def drop(self, *, before: int, day_s: float) -> int:
        return 0


async def found(*, days: int = 8, today: bool = True, scope: Scope = WEB) -> SeasonFinding:
    """Busy in the second half of each day; it is the last quarter of an hour of the first half."""
    calendar = SeasonCalendar(zone_offset(datetime.UTC), DAY_S)
    clock = ManualClock(MIDNIGHT + DAY_S * 0.4)
    book = DayBook(calendar, 10)
    here = calendar.place(clock.now())
    noise = np.random.default_rng(1)
    saved = []
    for ago in range(0 if today else 1, days + 1):
        use = np.where(np.arange(calendar.slots) < calendar.slots // 2, 1.0, 5.0)
        use *= 1 + 0.02 * noise.standard_normal(calendar.slots)
        saved.append(SavedDay(scope, here.day - ago, use.astype(np.float16)))
    book.restore(saved, now=clock.now())

    async def at_once(body: object) -> SeasonVerdict:
        assert callable(body)
        made: SeasonVerdict = body()
        return made

    finding = SeasonFinding(
        book, NoDays(), fake_process(clock=clock), in_thread=at_once, lead_s=900.0
    )
    await finding.check()
    return finding


async def test_the_peak_is_foreseen_within_the_lead_and_not_before() -> None:
    finding = await found()
    near = forecast_of(finding, WEB, 60.0)
    assert near.why_not == ""
    assert near.ahead == pytest.approx(1.0, abs=0.1)
    assert (near.skill or 0) > 0.8
    far = forecast_of(finding, WEB, 500.0)
    assert far.ahead == pytest.approx(5.0, abs=0.3)
    assert far.upper is not None
    assert far.ahead is not None
    assert far.ahead <= far.upper < 6
    # No longer than a part of the day is looked ahead.
    assert forecast_of(finding, WEB, 14_400.0).lead_s == DAY_S / 6


async def test_what_is_silent_or_unknown_is_not_to_be_followed() -> None:
    silent = forecast_of(await found(today=False), WEB, None)
    assert (silent.reason, silent.why_not) == ("stale", "nothing was reported of it for 2 min")
    unknown = forecast_of(await found(), ("shop", "Deployment", "other"), None)
    assert unknown.reason == "no_forecast"
    young = forecast_of(await found(days=2), WEB, None)
    assert young.reason == "no_forecast"
    assert "are needed" in young.why_not


async def test_what_the_cluster_will_use_is_told_where_it_is_known() -> None:
    assert foreseen_millis(await found()) is None
    millis = foreseen_millis(await found(scope=CLUSTER))
    assert millis is not None
    assert 900 < millis < 6_000
