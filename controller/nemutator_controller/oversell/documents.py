"""What people see of nodes whose CPU is oversold or could be, as JSON."""

from collections.abc import Sequence
from typing import Any

from nemutator_common import names

from nemutator_controller.oversell.verdicts import NodeVerdict


def oversell_document(
    verdicts: Sequence[NodeVerdict], *, most: int, at: float, now: float, problem: str
) -> dict[str, Any]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "NodeOversellList",
        "most": most,
        "age_s": round(max(0.0, now - at), 1) if at else None,
        "problem": problem,
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
            for one in verdicts
        ],
    }


def _ratio(hundredths: int | None) -> float | None:
    return None if hundredths is None else hundredths / 100
