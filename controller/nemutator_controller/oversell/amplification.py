"""What becomes of the status of a node that somebody writes: pure, and the same when it is asked about its own result.

What kubelet has for pods (raw) is believed from that node's kubelet alone. Everybody else, like a node problem detector, sends
back what stands there, which is amplified already; so does a kubelet whose own view of the node is late. Both get what is made
of the raw amount that was kept: it is never amplified twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nemutator_common import names

from nemutator_controller.oversell.observed_nodes import ENABLED
from nemutator_controller.oversell.ports import WrittenStatus
from nemutator_controller.oversell.ratios import amplified, cpu_millis, cpu_text, parse_ratio

KUBELET = "system:node:"

Amplification = Literal[
    "amplified", "unchanged", "not_enabled", "not_asked", "ratio", "no_cpu", "raw_unknown"
]


@dataclass(frozen=True, slots=True)
class NodeChange:
    result: Amplification
    operations: Sequence[dict[str, Any]] = ()
    """A JSON Patch."""


def node_change(user: str, before: WrittenStatus, after: WrittenStatus) -> NodeChange:
    """What is to be changed in *after*, which *user* writes in the place of *before*."""
    if after.labels.get(names.OVERSELL) != ENABLED:
        return NodeChange("not_enabled")
    text = after.annotations.get(names.OVERSELL_RATIO)
    if text is None:
        return NodeChange("not_asked")
    ratio = parse_ratio(text)
    if ratio is None:
        return NodeChange("ratio")
    said, capacity = cpu_millis(after.allocatable.get("cpu")), cpu_millis(after.capacity.get("cpu"))
    if said is None or capacity is None:
        return NodeChange("no_cpu")
    raw = _raw(user, before, after, said=said, capacity=capacity, ratio=ratio)
    if raw is None:
        return NodeChange("raw_unknown")
    wanted, kept = amplified(raw, ratio), cpu_text(raw)
    operations: list[dict[str, Any]] = []
    if said != wanted:
        path = "/status/allocatable/cpu"
        operations.append({"op": "replace", "path": path, "value": cpu_text(wanted)})
    if after.annotations.get(names.RAW_CPU) != kept:
        # The ratio stands beside it, so there are annotations.
        path = f"/metadata/annotations/{names.RAW_CPU.replace('/', '~1')}"
        operations.append({"op": "add", "path": path, "value": kept})
    return NodeChange("amplified" if operations else "unchanged", operations)


def _raw(
    user: str,
    before: WrittenStatus,
    after: WrittenStatus,
    *,
    said: int,
    capacity: int,
    ratio: int,
) -> int | None:
    """What kubelet has for pods; None: it has not said so."""
    is_kubelet = user == f"{KUBELET}{after.name}"
    # Of others only what stood there before counts: they could write any amount.
    kept = _kept(before, capacity)
    if is_kubelet:
        kept = _kept(after, capacity) or kept
        if kept is None:
            return said if said <= capacity else None
        is_carried = said == cpu_millis(before.allocatable.get("cpu"))
        # An amount that is what we would make of it says nothing either: it may be just that.
        is_made = said == amplified(kept, ratio)
        if said < kept or (said <= capacity and not is_carried and not is_made):
            return said
    return kept


def _kept(written: WrittenStatus, capacity: int) -> int | None:
    kept = cpu_millis(written.annotations.get(names.RAW_CPU))
    return kept if kept is not None and kept <= capacity else None
