"""Nodes whose CPU is oversold or could be, as a table."""

from dataclasses import dataclass

import msgspec

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

OVERSELL_PATH = "/api/v1/oversell"
WIDTH = 200

LAYOUT = (
    Column("NODE", limit=50),
    Column("RAW", right=True),
    Column("REQUESTED", right=True),
    Column("USED", right=True),
    Column("ASKED", right=True),
    Column("COULD", right=True),
    Column("RATIO", right=True),
    Column("WHY", limit=120),
)
FURTHER = (
    Column("ALLOCATABLE", right=True),
    Column("WAITING", right=True),
    Column("STANDS", right=True),
    Column("POLICY", limit=50),
)


@dataclass(frozen=True, slots=True)
class ListedOversell:
    node: str
    raw_cores: Amount
    allocatable_cores: Amount
    requested_cores: Amount
    standing: Amount
    ratio: Amount
    why: str
    policy: str = ""
    used_cores: Amount | None = None
    waiting: Amount | None = None
    asked: Amount | None = None
    could: Amount | None = None


class ListedOversells(msgspec.Struct, frozen=True):
    most: int
    items: tuple[ListedOversell, ...]
    problem: str = ""


def decode(document: object) -> ListedOversells:
    return understood(document, ListedOversells, "nodes whose CPU could be oversold")


def overview(found: ListedOversells, *, wide: bool = False) -> str:
    lines = []
    if found.items:
        layout = (*LAYOUT[:-1], *FURTHER, LAYOUT[-1]) if wide else LAYOUT
        lines.append(table(layout, [_row(one, wide=wide) for one in found.items]))
    elif not found.problem:
        lines.append("there is no node\n")
    if found.problem:
        lines.append(f"nothing is decided now: {visible(found.problem, limit=WIDTH)}\n")
    if not found.most:
        lines.append("nothing is oversold: brain.oversell_nodes is 0\n")
    return "".join(lines)


def _row(one: ListedOversell, *, wide: bool) -> tuple[str, ...]:
    row: tuple[str, ...] = (
        one.node,
        f"{one.raw_cores:.2f}",
        f"{one.requested_cores:.2f}",
        _or_unknown(one.used_cores),
        "-" if one.asked is None else f"{one.asked:.2f}",
        _or_unknown(one.could),
        f"{one.ratio:.2f}",
    )
    if wide:
        waiting = "?" if one.waiting is None else f"{100 * one.waiting:.0f} %"
        further = (f"{one.allocatable_cores:.2f}", waiting, f"{one.standing:.2f}", one.policy)
        row = (*row, *further)
    return (*row, one.why)


def _or_unknown(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
