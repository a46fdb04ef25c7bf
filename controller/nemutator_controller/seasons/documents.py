"""What people see of seasons, as JSON, and what admission is told."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from nemutator_common import names
from nemutator_common.admission_snapshots import SIZING_PREFIX, SeasonSnapshot

from nemutator_controller.seasons.calendars import SeasonCalendar
from nemutator_controller.seasons.day_book import Scope
from nemutator_controller.seasons.experts import Numbers
from nemutator_controller.seasons.phases import DayPlan, runs
from nemutator_controller.seasons.records import FoundSeason, PolicySwitch

SHOWN_STEPS = 96
"""Of a day that is drawn: quarters of an hour."""

NO_PEAK = "the peak that was expected has not come"


@dataclass(frozen=True, slots=True)
class SeasonSpan:
    season: str
    begin: str
    end: str


@dataclass(frozen=True, slots=True)
class SeasonDay:
    """The day that is expected, and what was used of it so far; by step, None where nothing is known."""

    step_s: float
    expected: list[float]
    lower: list[float]
    upper: list[float]
    used: list[float | None]
    seasons: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonItem:
    namespace: str
    kind: str
    name: str
    season: str
    since: float
    seasonal: bool | None
    """None: it cannot be told."""
    reason: str
    skill: float | None
    coverage: float | None
    days: int
    planned_at: float | None
    """When the day was foretold that it follows; None: it follows none."""
    lead_s: float
    """So long before a peak it is pre-peak."""
    starts: int
    """Pods whose start was measured for that."""
    spans: list[SeasonSpan]
    day: SeasonDay | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchItem:
    kind: str
    name: str
    in_force: bool
    since: float
    why: str
    decision: str
    held: bool


def season_item(
    scope: Scope,
    found: FoundSeason,
    calendar: SeasonCalendar,
    *,
    lead: int,
    starts: int = 0,
    used: Numbers | None = None,
) -> SeasonItem:
    """*lead* in slots. With *used*, the use of today by slot, its whole day is shown."""
    verdict, plan = found.verdict, found.plan
    return SeasonItem(
        namespace=scope[0],
        kind=scope[1],
        name=scope[2],
        season=found.state.season,
        since=round(found.state.since, 1),
        seasonal=verdict.seasonal,
        reason=f"{verdict.reason}; {NO_PEAK}" if found.state.misses_peak else verdict.reason,
        skill=None if verdict.skill is None else round(verdict.skill, 3),
        coverage=None if verdict.coverage is None else round(verdict.coverage, 3),
        days=verdict.days,
        planned_at=None if plan is None else round(found.planned_at, 1),
        lead_s=round(lead * calendar.slot_s, 1),
        starts=starts,
        spans=[] if plan is None else spans_of(plan, calendar),
        day=None if used is None or plan is None else day_of(plan, used, calendar),
    )


def spans_of(plan: DayPlan, calendar: SeasonCalendar) -> list[SeasonSpan]:
    """The seasons of a day, in the order in which they begin."""
    found: list[tuple[int, SeasonSpan]] = []
    slots = len(plan.seasons)
    for season in dict.fromkeys(plan.seasons):
        for begin, end in runs([one == season for one in plan.seasons]):
            span = SeasonSpan(season, calendar.clock(begin), calendar.clock(end % slots))
            found.append((begin, span))
    return [span for _, span in sorted(found, key=lambda one: one[0])]


def day_of(plan: DayPlan, used: Numbers, calendar: SeasonCalendar) -> SeasonDay:
    slots = len(plan.seasons)
    width = max(1, slots // SHOWN_STEPS)
    steps = slots // width

    def shown(values: Numbers) -> list[float]:
        return [
            round(float(one), 6)
            for one in np.nan_to_num(values[: steps * width], posinf=0.0)
            .reshape(steps, width)
            .mean(axis=1)
        ]

    parts = used[: steps * width].reshape(steps, width)
    known = np.isfinite(parts)
    count = known.sum(axis=1)
    sums = np.where(known, parts, 0.0).sum(axis=1)
    return SeasonDay(
        step_s=calendar.slot_s * width,
        expected=shown(plan.day.expected),
        lower=shown(plan.day.lower),
        upper=shown(plan.day.upper),
        used=[
            round(float(total / number), 6) if number else None
            for total, number in zip(sums.tolist(), count.tolist(), strict=True)
        ],
        seasons=[str(plan.seasons[number * width]) for number in range(steps)],
    )


def switch_items(switches: Iterable[PolicySwitch]) -> list[SwitchItem]:
    return [
        SwitchItem(
            kind=one.kind,
            name=one.name,
            in_force=one.in_force,
            since=round(one.since, 1),
            why=one.why,
            decision=one.decision,
            held=one.held,
        )
        for one in sorted(switches, key=lambda one: one.key)
    ]


def season_list(
    items: list[SeasonItem],
    cluster: SeasonItem | None,
    switches: list[SwitchItem],
    calendar: SeasonCalendar,
    *,
    zone: str,
    left_off: int,
    counts: Mapping[str, int],
) -> Mapping[str, object]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "SeasonList",
        "calendar": {
            "day_s": calendar.day_s,
            "slot_s": calendar.slot_s,
            "zone": zone,
            "compressed": calendar.is_compressed,
        },
        "cluster": cluster,
        "switches": switches,
        "counts": dict(counts),
        "items": items,
        "left_off": left_off,
    }


def snapshot_of(
    switches: Collection[PolicySwitch], holds_resizes: Callable[[frozenset[str]], bool]
) -> SeasonSnapshot:
    """*holds_resizes* says it of the names of SeasonPolicies."""
    # As admission names the policies that it makes of SizingPolicies.
    prefixes = {"MutationPolicy": "", "SizingPolicy": SIZING_PREFIX}
    named = (
        prefixes[one.kind] + one.name for one in switches if one.kind in prefixes and one.in_force
    )
    brains = (one.name for one in switches if one.kind == "SeasonPolicy" and one.in_force)
    return SeasonSnapshot(tuple(sorted(named)), holds_resizes(frozenset(brains)))
