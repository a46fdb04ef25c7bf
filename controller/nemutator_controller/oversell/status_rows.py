"""How much a status has room for, and what of all nodes it says: pure."""

from collections import Counter
from collections.abc import Sequence

from nemutator_controller.kube.objects import Object, Shape
from nemutator_controller.oversell.ratios import ONE, ratio_text
from nemutator_controller.oversell.verdicts import NodeVerdict
from nemutator_controller.policies.objects import READY, PolicyCondition

MOST_NODES = 100
MOST_REASONS = 32
LONGEST_TEXT = 253


class OversoldNode(Shape, frozen=True, gc=False):
    name: str
    ratio: str = ""
    reason: str = ""


class OversellReason(Shape, frozen=True, gc=False):
    reason: str
    nodes: int = 0


class OversellStatus(Shape, frozen=True, gc=False):
    conditions: tuple[PolicyCondition, ...] = ()
    nodes: tuple[OversoldNode, ...] = ()
    nodes_left_off: int = 0
    reasons: tuple[OversellReason, ...] = ()


class NodeOversellObject(Object, frozen=True, gc=False):
    """As an API server stores it; `model.py` decides whether one is sound."""

    spec: object = None
    status: OversellStatus = OversellStatus()


def rows_of(
    verdicts: Sequence[NodeVerdict], conditions: tuple[PolicyCondition, ...]
) -> OversellStatus:
    """*verdicts* of the nodes that a policy selects."""
    shown = sorted(verdicts, key=lambda one: (-one.ratio, one.name))
    counts = Counter(one.reason for one in verdicts)
    return OversellStatus(
        conditions=conditions,
        nodes=tuple(
            OversoldNode(one.name, ratio_text(one.ratio), one.reason) for one in shown[:MOST_NODES]
        ),
        nodes_left_off=max(0, len(shown) - MOST_NODES),
        reasons=tuple(
            OversellReason(reason, count) for reason, count in sorted(counts.items())[:MOST_REASONS]
        ),
    )


def conditions_of(
    policy: NodeOversellObject, own: Sequence[NodeVerdict], fault: str | None, *, moment: str
) -> tuple[PolicyCondition, ...]:
    """*own*: the verdicts of the nodes that it selects."""
    before = {one.type: one for one in policy.status.conditions}
    oversold = sum(one.standing > ONE for one in own)
    said = f"{oversold} of {len(own)} nodes"
    made = (
        (READY, *(("True", "Sound", "") if fault is None else ("False", "Faulty", fault))),
        (
            "Oversold",
            "True" if oversold else "False",
            "Decided" if fault is None else "Faulty",
            said,
        ),
    )
    return tuple(
        PolicyCondition(
            type=type_,
            status=status,
            reason=reason,
            message=message[:4096],
            observed_generation=policy.metadata.generation,
            last_transition_time=known.last_transition_time
            if (known := before.get(type_)) is not None and known.status == status
            else moment,
        )
        for type_, status, reason, message in made
    )
