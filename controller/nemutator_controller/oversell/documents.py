"""What people see of nodes whose CPU is oversold or could be, as JSON, in pages."""

from collections.abc import Sequence
from typing import Any

from nemutator_common import names

from nemutator_controller.list_pages import Position, page_of
from nemutator_controller.oversell.verdicts import NodeVerdict
from nemutator_controller.queries import AskedPage, is_called

ORDERS = ("name", "ratio", "requested", "used", "waiting")


def oversell_document(
    verdicts: Sequence[NodeVerdict],
    asked: AskedPage,
    *,
    most: int,
    at: float,
    now: float,
    problem: str,
) -> dict[str, Any]:
    """What *asked* wants of the nodes. Raises TokenError."""
    page = page_of(
        [one for one in verdicts if is_called(one.name, asked.search)],
        lambda one: verdict_position(one, asked.order),
        order=asked.order,
        limit=asked.limit,
        after=asked.after,
    )
    return {
        "apiVersion": names.API_VERSION,
        "kind": "NodeOversellList",
        "most": most,
        "age_s": round(max(0.0, now - at), 1) if at else None,
        "problem": problem,
        "next": page.next,
        "remaining": page.remaining,
        "items": [
            {
                "node": one.name,
                "policy": one.policy,
                "raw_cores": one.raw_millis / 1_000,
                "allocatable_cores": one.allocatable_millis / 1_000,
                "requested_cores": one.requested_millis / 1_000,
                "used_cores": None if one.used_millis is None else one.used_millis / 1_000,
                "waiting": None if one.waiting is None else round(one.waiting, 4),
                "asked": _ratio(one.asked),
                "standing": one.standing / 100,
                "ratio": one.ratio / 100,
                "could": _ratio(one.could),
                "reason": one.reason,
                "why": one.why,
            }
            for one in page.items
        ],
    }


def verdict_position(one: NodeVerdict, order: str) -> Position:
    match order:
        case "ratio":
            value: float = one.ratio
        case "requested":
            value = one.requested_millis
        case "used":
            value = one.used_millis or 0
        case "waiting":
            value = one.waiting or 0
        case _:
            value = 0
    return float(value), (one.name,)


def _ratio(hundredths: int | None) -> float | None:
    return None if hundredths is None else hundredths / 100
