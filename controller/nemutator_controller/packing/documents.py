"""What people see of nodes that are emptied, and of those that could be, as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nemutator_common import names

from nemutator_controller.packing.model import EmptiedNode, NodePlan


def packing_document(
    plans: Sequence[NodePlan],
    chosen: Mapping[str, EmptiedNode],
    *,
    policy: str | None,
    most: int,
) -> dict[str, Any]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Packing",
        "most": most,
        "policy": policy,
        "items": list(_items(plans, chosen)),
    }


def _items(
    plans: Sequence[NodePlan], chosen: Mapping[str, EmptiedNode]
) -> Iterable[dict[str, Any]]:
    for one in plans:
        known = chosen.get(one.node)
        yield {
            "node": one.node,
            "share": round(one.share, 3),
            "state": ("" if one.why_not else "possible") if known is None else known.state,
            "since": None if known is None else round(known.since, 1),
            "why": one.why_not if known is None else known.why or one.why_not,
            "moves": [{"pod": str(move.pod), "to": move.to} for move in one.moves],
        }
