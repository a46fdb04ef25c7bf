"""What people see: spans in words, a day in steps, and null for what is not known."""

from dataclasses import replace

import msgspec
import numpy as np
from nemutator_common.admission_snapshots import SeasonSnapshot
from nemutator_controller.seasons.backtests import NextDay
from nemutator_controller.seasons.calendars import SeasonCalendar
from nemutator_controller.seasons.documents import (
    NO_PEAK,
    season_item,
    season_list,
    snapshot_of,
    spans_of,
    switch_items,
)
from nemutator_controller.seasons.phases import SeasonState, day_plan
from nemutator_controller.seasons.records import FoundSeason, PolicyKind, PolicySwitch
from nemutator_controller.seasons.verdicts import SeasonVerdict

CALENDAR = SeasonCalendar(lambda _: 0.0)


def found() -> FoundSeason:
    day = np.full(288, 1.0)
    day[108:204] = 10.0
    plan = day_plan(NextDay(day, day * 0.5, np.full(288, np.inf)), lead=3)
    verdict = SeasonVerdict(seasonal=True, reason="so", skill=0.7123, coverage=0.9, days=8)
    return FoundSeason(
        verdict=verdict, state=SeasonState("peak", since=5.0), plan=plan, planned_at=2.0
    )


def test_the_seasons_of_a_day_are_said_in_order() -> None:
    plan = found().plan
    assert plan is not None
    spans = [(one.season, one.begin, one.end) for one in spans_of(plan, CALENDAR)]

    assert [one[0] for one in spans] == ["off-peak", "pre-peak", "peak", "off-peak"]
    assert spans[0][1] == "00:00"
    assert spans[-1][2] == "00:00"


def test_a_day_is_drawn_in_steps_and_what_is_not_known_is_null() -> None:
    used = np.full(288, np.nan)
    used[:3] = 2.0
    item = season_item(
        ("shop", "Deployment", "web"), found(), CALENDAR, lead=1, starts=4, used=used
    )

    assert item.day is not None
    assert (item.day.step_s, len(item.day.expected), len(item.day.seasons)) == (900.0, 96, 96)
    assert item.day.used[:2] == [2.0, None]
    assert (item.season, item.skill, item.planned_at) == ("peak", 0.712, 2.0)
    # JSON has no infinity.
    assert b"Infinity" not in msgspec.json.encode(item)


def test_that_a_peak_has_not_come_stands_beside_why_there_is_a_season() -> None:
    one = found()
    absent = replace(one, state=SeasonState("surprise", misses_peak=True))
    reasons = [
        season_item(("shop", "Deployment", "web"), each, CALENDAR, lead=1).reason
        for each in (one, absent)
    ]
    assert reasons == ["so", f"so; {NO_PEAK}"]


def test_a_list_says_its_calendar_and_what_was_switched() -> None:
    switch = PolicySwitch(
        kind="SeasonPolicy", name="busy", in_force=True, since=1.0, why="so", decision="d1"
    )
    document = season_list(
        [], None, switch_items([switch]), CALENDAR, zone="UTC", left_off=0, counts={"peak": 1}
    )

    assert document["kind"] == "SeasonList"
    assert msgspec.to_builtins(document["switches"])[0]["decision"] == "d1"
    assert document["calendar"] == {
        "day_s": 86_400.0,
        "slot_s": 300.0,
        "zone": "UTC",
        "compressed": False,
    }


def test_admission_is_told_which_policies_are_followed_now() -> None:
    def switch(kind: PolicyKind, name: str, *, in_force: bool = True) -> PolicySwitch:
        return PolicySwitch(kind=kind, name=name, in_force=in_force, since=1.0, why="so")

    switches = [
        switch("SizingPolicy", "shop"),
        switch("SizingPolicy", "night", in_force=False),
        switch("MutationPolicy", "shop"),
        switch("SeasonPolicy", "busy"),
        switch("SeasonPolicy", "calm", in_force=False),
    ]
    found = snapshot_of(switches, lambda brains: brains == frozenset({"busy"}))
    assert found == SeasonSnapshot(("SizingPolicy/shop", "shop"), resizes_held=True)
    assert snapshot_of([], lambda _: False) == SeasonSnapshot(())
