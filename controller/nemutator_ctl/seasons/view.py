"""Seasons as tables for people: policies first, then all workloads together, then each."""

from collections.abc import Sequence

import msgspec

from nemutator_ctl.answers import understood
from nemutator_ctl.tables import Column, table

SEASONS_PATH = "/api/v1/seasons"

WORKLOADS = (
    Column("NAMESPACE", limit=40),
    Column("WORKLOAD", limit=60),
    Column("SEASON", limit=10),
    Column("SKILL", right=True, limit=6),
    Column("LEAD", right=True, limit=8),
    Column("SEASONS", limit=120),
    Column("WHY", limit=120),
)
POLICIES = (
    Column("POLICY", limit=60),
    Column("IN FORCE", limit=10),
    Column("SWITCH", limit=40),
    Column("WHY", limit=120),
)


class ShownSpan(msgspec.Struct, frozen=True):
    season: str
    begin: str
    end: str


class ShownSeason(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    kind: str
    name: str
    season: str
    reason: str
    skill: float | None = None
    lead_s: float | None = None
    spans: tuple[ShownSpan, ...] = ()


class ShownSwitch(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    name: str
    in_force: bool
    why: str
    decision: str = ""
    held: bool = False


class ShownCalendar(msgspec.Struct, frozen=True, kw_only=True):
    day_s: float
    zone: str
    compressed: bool = False


class ShownSeasons(msgspec.Struct, frozen=True, kw_only=True):
    calendar: ShownCalendar
    cluster: ShownSeason | None
    switches: tuple[ShownSwitch, ...]
    items: tuple[ShownSeason, ...]
    left_off: int = 0


def decode(document: object) -> ShownSeasons:
    return understood(document, ShownSeasons, "a list of seasons")


def overview(shown: ShownSeasons) -> str:
    parts = []
    calendar = shown.calendar
    if calendar.compressed:
        parts.append(f"A day here takes {calendar.day_s:.0f} s.\n")
    if shown.switches:
        parts.append(table(POLICIES, [_policy(each) for each in shown.switches]))
    rows = [] if shown.cluster is None else [_workload(shown.cluster)]
    rows += [_workload(each) for each in shown.items]
    parts.append(table(WORKLOADS, rows) if rows else "No use has been reported yet.\n")
    if shown.left_off:
        parts.append(f"{shown.left_off} more: name a namespace with -n.\n")
    return "\n".join(parts)


def _policy(one: ShownSwitch) -> Sequence[str]:
    state = "yes" if one.in_force else "no"
    return (
        f"{one.kind}/{one.name}",
        f"{state}, held" if one.held else state,
        one.decision,
        one.why,
    )


def _workload(one: ShownSeason) -> Sequence[str]:
    return (
        one.namespace or "-",
        f"{one.kind}/{one.name}" if one.name else "all together",
        one.season,
        "" if one.skill is None else f"{one.skill:.0%}",
        "" if one.lead_s is None or not one.spans else _lead(one.lead_s),
        "; ".join(f"{each.season} from {each.begin}" for each in one.spans),
        one.reason,
    )


def _lead(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
