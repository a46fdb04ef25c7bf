"""A workload's history as typed values, and as lines for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from nemutator_ctl.answers import Amount, Moment, understood
from nemutator_ctl.tables import Column, moment, table
from nemutator_ctl.terminal_text import visible

LIST_PATH = "/api/v1/history/workloads"

LIST_LAYOUT = (
    Column("NAMESPACE", limit=40),
    Column("OWNER", limit=60),
    Column("CONTAINER", limit=30),
    Column("LAST HEARD"),
)

LAYOUT = (
    Column("", limit=20),
    Column("MEAN", right=True),
    Column("LOW", right=True),
    Column("HIGH", right=True),
    Column("ONE POD", right=True),
    Column("", limit=72),
)

NOTHING = (
    "There is no history yet: no agent has reported what a container used.\n"
    "`nemutator topology` shows what runs; a first quarter of a minute has to pass.\n"
)

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WIDTH = 60
_BARS = "▁▂▃▄▅▆▇█"
_GAP = " "
_HOURS = 24

Known = Amount | None


@dataclass(frozen=True, slots=True)
class HistoryRowShown:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    heard_at: Moment


@dataclass(frozen=True, slots=True)
class HistoryRowsShown:
    items: tuple[HistoryRowShown, ...]
    left_off: int


@dataclass(frozen=True, slots=True)
class UsualWeekShown:
    minutes: tuple[Amount, ...]
    figures: Mapping[str, Mapping[str, tuple[Known, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderShown:
    missing: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryShown:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    from_at: Moment
    step_s: Amount
    pods: tuple[Known, ...]
    figures: Mapping[str, Mapping[str, tuple[Known, ...]]]
    window: Mapping[str, Mapping[str, Known]]
    week: UsualWeekShown | None
    older: OlderShown | None = None


def history_path(row: HistoryRowShown) -> str:
    parts = (quote(part, safe="") for part in (row.namespace, row.owner_kind, row.owner))
    return "/api/v1/workloads/{}/{}/{}/history".format(*parts)


def decode(document: object) -> HistoryShown:
    return understood(document, HistoryShown, "a history")


def decode_rows(document: object) -> HistoryRowsShown:
    return understood(document, HistoryRowsShown, "a list of histories")


def list_view(listed: HistoryRowsShown) -> str:
    if not listed.items:
        return NOTHING
    more = f"and {listed.left_off} more: name a namespace\n" if listed.left_off else ""
    rows = [
        (one.namespace, f"{one.owner_kind}/{one.owner}", one.container, moment(one.heard_at))
        for one in listed.items
    ]
    return table(LIST_LAYOUT, rows) + more


def view(shown: HistoryShown) -> str:
    name = f"{shown.namespace}/{shown.owner_kind}/{shown.owner}"
    head = visible(name if shown.container == "-" else f"{name} {shown.container}", limit=200)
    until = shown.from_at + shown.step_s * len(shown.pods)
    lines = [f"{head}, {moment(shown.from_at)} to {moment(until)}\n"]
    if not shown.figures:
        lines.append("Nothing is known of this time.\n")
    else:
        lines.append(table(LAYOUT, [_cells(name, shown) for name in shown.figures]))
    if shown.older is not None and shown.older.missing:
        missing = visible(shown.older.missing, limit=300)
        lines.append(f"What is older than a day is not known: {missing}\n")
    if shown.older is not None and shown.older.warnings:
        said = visible("; ".join(shown.older.warnings), limit=300)
        lines.append(f"What is older than a day came with a warning: {said}\n")
    if shown.week is not None:
        lines += [_week(name, shown.week) for name in shown.week.figures]
    return "\n".join(lines)


def _cells(name: str, shown: HistoryShown) -> Sequence[str]:
    whole = shown.window.get(name, {})
    measures = (amount(name, whole.get(measure)) for measure in ("mean", "low", "high", "most"))
    return (_title(name), *measures, sparkline(shown.figures[name].get("mean", ())))


def _week(name: str, week: UsualWeekShown) -> str:
    """A line for each day, of which each hour is a bar: its median."""
    medians, highest = (week.figures[name].get(one, ()) for one in ("median", "max"))
    most = max((one for one in medians if one is not None), default=0.0)
    lines = [f"Usual week of {_title(name)} (UTC, median of each hour; the highest minute)\n"]
    for number, day in enumerate(_DAYS):
        hours = slice(number * _HOURS, (number + 1) * _HOURS)
        top = max((one for one in highest[hours] if one is not None), default=None)
        bars = sparkline(medians[hours], most=most).ljust(_HOURS)
        lines.append(f"  {day} {bars} {amount(name, top)}\n")
    return "".join(lines)


def sparkline(values: Sequence[Known], *, most: float | None = None) -> str:
    """A bar for each of *values*, or for the mean of some of them where they are many; gaps are gaps."""
    some = -(-len(values) // _WIDTH) or 1
    means = [_mean(values[begin : begin + some]) for begin in range(0, len(values), some)]
    top = most if most is not None else max((one for one in means if one is not None), default=0.0)
    return "".join(_bar(one, top) for one in means)


def _mean(values: Sequence[Known]) -> Known:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def _bar(value: Known, top: float) -> str:
    if value is None:
        return _GAP
    share = value / top if top > 0 else 0.0
    return _BARS[min(max(math.ceil(share * len(_BARS)) - 1, 0), len(_BARS) - 1)]


def amount(name: str, value: Known) -> str:
    """As people write it, by the unit that the name of its figure says."""
    if value is None:
        return "-"
    if name == "cpu_cores":
        return f"{value:.3f}"
    if name == "throttled":
        return f"{100 * value:.1f}%"
    rate = "" if name.endswith("_bytes") else "/s"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}{rate}" if unit == "B" else f"{value:.1f} {unit}{rate}"
        value /= 1024
    return f"{value:.1f} TiB{rate}"


def _title(name: str) -> str:
    titles = {"cpu_cores": "CPU (cores)", "memory_bytes": "memory"}
    return titles.get(name, visible(name, limit=20).replace("_", " "))
