"""Tombstones for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.answers import Listing, Moment, understood
from nemutator_ctl.tables import Column, moment, table
from nemutator_ctl.terminal_text import visible

TOMBSTONES_PATH = "/api/v1/tombstones"

LAYOUT = (
    Column("SINCE", limit=20),
    Column("NAMESPACE", limit=40),
    Column("WORKLOAD", limit=60),
    Column("FIELD", limit=90),
    Column("POLICY", limit=40),
)


@dataclass(frozen=True, slots=True)
class ShownTombstone:
    at: Moment
    namespace: str
    kind: str
    name: str
    path: str
    policy: str


def decode(document: object) -> tuple[ShownTombstone, ...]:
    return understood(document, Listing[ShownTombstone], "a list of tombstones").items


def overview(shown: Sequence[ShownTombstone]) -> str:
    if not shown:
        return "Nothing stays taken back.\n"
    rows = [
        (moment(one.at), one.namespace, f"{one.kind}/{one.name}", one.path, one.policy)
        for one in shown
    ]
    return table(LAYOUT, rows)


def forgotten(shown: Sequence[ShownTombstone]) -> str:
    if not shown:
        return "There is no such field that stays taken back.\n"
    lines = (f"{one.kind} {one.namespace}/{one.name}: {one.path}: forgotten" for one in shown)
    return "".join(visible(line, limit=200) + "\n" for line in lines)
