"""ForecastScalers as a table for people."""

from collections.abc import Sequence

import msgspec

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.tables import Column, table

SCALERS_PATH = "/api/v1/scalers"

LAYOUT = (
    Column("SCALER", limit=80),
    Column("TARGET", limit=40),
    Column("MODE", limit=10),
    Column("BASE", right=True),
    Column("WANTED", right=True),
    Column("MINIMUM", right=True),
    Column("SPARE FOR", right=True),
    Column("SKILL", right=True),
    Column("REASON", limit=20),
    Column("WHY", limit=160),
)
WIDE = (
    *LAYOUT[:2],
    Column("WORKLOAD", limit=60),
    *LAYOUT[2:8],
    Column("NOW", right=True),
    Column("AHEAD", right=True),
    Column("UPPER", right=True),
    Column("LEAD", right=True),
    *LAYOUT[8:],
)


class ShownScaler(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    name: str
    target: str
    workload: str
    mode: str
    base: int | None = None
    wanted: int | None = None
    minimum: int | None = None
    opportunistic: int | None = None
    now_cores: Amount | None = None
    ahead_cores: Amount | None = None
    upper_cores: Amount | None = None
    lead_s: Amount | None = None
    skill: Amount | None = None
    reason: str
    why: str


class ShownScalers(msgspec.Struct, frozen=True):
    items: tuple[ShownScaler, ...]
    left_off: int = 0


def decode(document: object) -> ShownScalers:
    return understood(document, ShownScalers, "a list of ForecastScalers")


def overview(shown: ShownScalers, *, wide: bool = False) -> str:
    if not shown.items:
        return "There is no ForecastScaler, or none was looked at yet.\n"
    made = table(WIDE if wide else LAYOUT, [_row(one, wide=wide) for one in shown.items])
    return made + (f"{shown.left_off} more are left off\n" if shown.left_off else "")


def _row(one: ShownScaler, *, wide: bool) -> Sequence[str]:
    skill = "" if one.skill is None else f"{one.skill:.0%}"
    first = (f"{one.namespace}/{one.name}", one.target)
    counts = (_count(one.base), _count(one.wanted), _count(one.minimum), _count(one.opportunistic))
    last = (one.reason, one.why)
    if not wide:
        return (*first, one.mode, *counts, skill, *last)
    lead = "" if one.lead_s is None else f"{one.lead_s:.0f}s"
    cores = (_cores(one.now_cores), _cores(one.ahead_cores), _cores(one.upper_cores))
    return (*first, one.workload, one.mode, *counts, skill, *cores, lead, *last)


def _count(replicas: int | None) -> str:
    return "" if replicas is None else str(replicas)


def _cores(cores: float | None) -> str:
    return "" if cores is None else f"{cores:.2f}"
