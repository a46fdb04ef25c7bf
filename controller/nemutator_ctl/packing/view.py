"""Nodes that are emptied or could be, as a table."""

from dataclasses import dataclass

import msgspec

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

PACKING_PATH = "/api/v1/packing"
NAMED = 3

LAYOUT = (
    Column("NODE", limit=50),
    Column("REQUESTED", right=True),
    Column("STATE", limit=12),
    Column("WHY", limit=120),
)


@dataclass(frozen=True, slots=True)
class ListedMove:
    pod: str
    to: str


@dataclass(frozen=True, slots=True)
class ListedEmptiedNode:
    node: str
    share: Amount
    state: str
    why: str
    moves: tuple[ListedMove, ...]


class ListedPacking(msgspec.Struct, frozen=True):
    most: int
    items: tuple[ListedEmptiedNode, ...]
    policy: str | None = None


def decode(document: object) -> ListedPacking:
    return understood(document, ListedPacking, "nodes that could be emptied")


def overview(found: ListedPacking) -> str:
    if not found.items:
        return "there is no node\n"
    rows = [
        (one.node, f"{100 * one.share:.0f} %", one.state or "kept", _why(one))
        for one in found.items
    ]
    return table(LAYOUT, rows) + _by(found)


def _why(one: ListedEmptiedNode) -> str:
    if not one.moves:
        return one.why or "nothing runs there but what runs on each node"
    named = ", ".join(
        f"{move.pod} to {move.to}" if move.to else f"{move.pod} gives way"
        for move in one.moves[:NAMED]
    )
    more = f" and {len(one.moves) - NAMED} more" if len(one.moves) > NAMED else ""
    return f"{named}{more} would have room"


def _by(found: ListedPacking) -> str:
    if not found.most:
        return "nothing is emptied: brain.packing_nodes is 0\n"
    if not found.policy:
        return "nothing is emptied now: no SeasonPolicy in force says placement: Pack\n"
    policy = visible(found.policy, limit=80)
    return f"SeasonPolicy {policy} packs; brain.packing_nodes allows {found.most} at once\n"
